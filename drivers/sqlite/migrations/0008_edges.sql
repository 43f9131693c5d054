-- Jobs that wait for the ends of other jobs.

ALTER TABLE hourbell_job ADD COLUMN waits INTEGER;                        -- how many open edges it waits for; NULL: it does not wait for jobs
ALTER TABLE hourbell_job ADD COLUMN releases INTEGER NOT NULL DEFAULT 0;  -- its end leaves a row in hourbell_release
ALTER TABLE hourbell_history ADD COLUMN releases INTEGER NOT NULL DEFAULT 0;

-- The few jobs that have dependents.
CREATE INDEX hourbell_job_releases ON hourbell_job (id) WHERE releases = 1;

CREATE TABLE hourbell_edge (
  on_id  INTEGER NOT NULL,  -- the predecessor
  job_id INTEGER NOT NULL,  -- the job that waits
  delay  INTEGER NOT NULL,
  "on"   INTEGER NOT NULL,  -- 0 success, 1 failure, 2 either
  state  INTEGER NOT NULL,  -- 0 open, 1 matched, 2 missed
  any_of INTEGER NOT NULL,  -- one matched edge of the job is enough
  PRIMARY KEY (on_id, job_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourbell_edge_job ON hourbell_edge (job_id, on_id);

-- Predecessors that have ended, with dependents that are not released yet.
CREATE TABLE hourbell_release (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  on_id    INTEGER NOT NULL,
  done_to  INTEGER NOT NULL DEFAULT 0, -- dependents up to this number are released
  ended_at INTEGER NOT NULL,
  state    INTEGER NOT NULL,           -- in which the predecessor ended
  reason   TEXT NOT NULL
) STRICT;

CREATE INDEX hourbell_release_on ON hourbell_release (on_id, id);
