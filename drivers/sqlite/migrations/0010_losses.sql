-- What is known of jobs whose nodes died: losses in a row, attempts that were
-- refunded after lost leases, and whether the last claim may have begun. A job with
-- two losses is a suspect, which is claimed apart from all others.
ALTER TABLE hourbell_job ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hourbell_job ADD COLUMN refunds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hourbell_job ADD COLUMN begun INTEGER NOT NULL DEFAULT 1;
ALTER TABLE hourbell_history ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
DROP INDEX hourbell_job_ready;
CREATE INDEX hourbell_job_ready ON hourbell_job (queue, kind, priority, run_at, id, losses) WHERE state = 0;
CREATE INDEX hourbell_job_suspect ON hourbell_job (queue, priority, run_at, id) WHERE state = 0 AND losses >= 2;
