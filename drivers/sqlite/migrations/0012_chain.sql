-- Schedules that follow other schedules instead of a rule.

ALTER TABLE hourbell_schedule ADD COLUMN releases INTEGER NOT NULL DEFAULT 0; -- the ends of its jobs leave rows in hourbell_release
ALTER TABLE hourbell_release ADD COLUMN schedule_id INTEGER;                  -- whose dependents have to account for the end; NULL: none

-- Which schedules follow which. A row whose schedule is a tombstone has no effect.
CREATE TABLE hourbell_chain (
  predecessor TEXT NOT NULL,    -- by name, also of a schedule that does not exist
  schedule_id INTEGER NOT NULL, -- the dependent
  PRIMARY KEY (predecessor, schedule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourbell_chain_schedule ON hourbell_chain (schedule_id);

-- Ends of jobs of predecessors, each a slot of a dependent.
CREATE TABLE hourbell_chain_end (
  schedule_id INTEGER NOT NULL, -- the dependent
  slot        INTEGER NOT NULL,
  job_id      INTEGER NOT NULL, -- the job that ended
  ended_at    INTEGER NOT NULL,
  state       INTEGER NOT NULL,
  paused      INTEGER NOT NULL, -- the predecessor was paused
  open        INTEGER NOT NULL, -- the dependent has not accounted for it
  predecessor TEXT NOT NULL,
  reason      TEXT NOT NULL,
  PRIMARY KEY (schedule_id, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourbell_chain_end_open ON hourbell_chain_end (schedule_id, slot) WHERE open = 1;
CREATE INDEX hourbell_chain_end_job ON hourbell_chain_end (schedule_id, job_id);
CREATE INDEX hourbell_chain_end_slot ON hourbell_chain_end (slot);
