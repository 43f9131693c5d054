-- The progress that attempts reported, of live and of finished jobs: one row for each job
-- that has reported any. A row with another token than its job belongs to an attempt before
-- the last.
CREATE TABLE hourbell_progress (
  job_id INTEGER PRIMARY KEY,
  token  INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  done   INTEGER NOT NULL,
  total  INTEGER NOT NULL, -- 0: not known
  note   TEXT NOT NULL
) STRICT;
