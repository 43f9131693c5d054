-- Pauses of groups.

-- A pause that has ended stays until all jobs that were parked for it are ready again.
CREATE TABLE hourbell_pause (
  subject   INTEGER NOT NULL,  -- 0 a group
  name      TEXT NOT NULL,
  paused_at INTEGER NOT NULL,
  until     INTEGER,           -- when it ends, or has ended; NULL: never
  reason    TEXT NOT NULL,
  actor     TEXT NOT NULL,
  PRIMARY KEY (subject, name)
) STRICT, WITHOUT ROWID;

-- What the schedules of a paused group have of the pause.
ALTER TABLE hourbell_schedule ADD COLUMN group_paused_at INTEGER;
ALTER TABLE hourbell_schedule ADD COLUMN group_paused_until INTEGER;

-- The state of a job may be -1: ready, and parked because its group is paused.
CREATE INDEX hourbell_job_parked ON hourbell_job (queue) WHERE state = -1;
