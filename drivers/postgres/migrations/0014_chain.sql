-- Schedules that follow other schedules instead of a rule.

ALTER TABLE {schema}.schedule ADD COLUMN releases boolean NOT NULL DEFAULT false; -- the ends of its jobs leave rows in release
ALTER TABLE {schema}.release ADD COLUMN schedules bigint[];                       -- of the jobs, whose dependents have to account for the ends; NULL: none

-- Which schedules follow which. A row whose schedule is a tombstone has no effect.
CREATE TABLE {schema}.chain (
    schedule_id bigint NOT NULL,            -- the dependent
    predecessor text COLLATE "C" NOT NULL,  -- by name, also of a schedule that does not exist
    PRIMARY KEY (predecessor, schedule_id)
);

CREATE INDEX chain_schedule ON {schema}.chain (schedule_id);

-- Ends of jobs of predecessors, each a slot of a dependent.
CREATE TABLE {schema}.chain_end (
    schedule_id bigint NOT NULL,            -- the dependent
    slot        timestamptz NOT NULL,
    job_id      bigint NOT NULL,            -- the job that ended
    ended_at    timestamptz NOT NULL,
    state       smallint NOT NULL,
    paused      boolean NOT NULL,           -- the predecessor was paused
    open        boolean NOT NULL,           -- the dependent has not accounted for it
    predecessor text COLLATE "C" NOT NULL,
    reason      text NOT NULL,
    PRIMARY KEY (schedule_id, slot)
);

CREATE INDEX chain_end_open ON {schema}.chain_end (schedule_id, slot) WHERE open;
CREATE INDEX chain_end_job ON {schema}.chain_end (schedule_id, job_id);
CREATE INDEX chain_end_slot ON {schema}.chain_end (slot);
