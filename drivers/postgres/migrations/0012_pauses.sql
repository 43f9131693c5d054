-- Pauses of groups.

-- A pause that has ended stays until all jobs that were parked for it are ready again.
CREATE TABLE {schema}.pause (
    paused_at timestamptz NOT NULL,
    until     timestamptz,           -- when it ends, or has ended; NULL: never
    subject   smallint NOT NULL,     -- 0 a group
    name      text COLLATE "C" NOT NULL,
    reason    text NOT NULL,
    actor     text NOT NULL,
    PRIMARY KEY (subject, name)
);

-- What the schedules of a paused group have of the pause.
ALTER TABLE {schema}.schedule ADD COLUMN group_paused_at timestamptz;
ALTER TABLE {schema}.schedule ADD COLUMN group_paused_until timestamptz;

-- The state of a job may be -1: ready, and parked, out of the way of claims, because its
-- group is paused.
