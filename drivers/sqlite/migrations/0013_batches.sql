-- Jobs that were enqueued together, and jobs that wait for the ends of all of their predecessors.

CREATE TABLE hourbell_batch (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at  INTEGER NOT NULL,
  finally_id  INTEGER, -- its last job, which waits for all others; NULL: none
  finally_on  INTEGER, -- what the last job waits for, as in hourbell_edge
  finally_any INTEGER
) STRICT;

ALTER TABLE hourbell_job ADD COLUMN batch INTEGER;
ALTER TABLE hourbell_history ADD COLUMN batch INTEGER;

CREATE INDEX hourbell_job_of_batch ON hourbell_job (batch, id) WHERE batch IS NOT NULL;
CREATE INDEX hourbell_history_of_batch ON hourbell_history (batch, id) WHERE batch IS NOT NULL;

ALTER TABLE hourbell_edge ADD COLUMN at_end INTEGER NOT NULL DEFAULT 0; -- the job waits until no edge is open
