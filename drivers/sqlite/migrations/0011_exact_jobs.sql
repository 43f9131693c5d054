-- A claim that may take only jobs with certain args finds them by the digest of their
-- args, and walks over no others. A job has a digest (SHA-256) once such a claim has
-- found it due, and none before, so that other jobs cost what they cost without digests.
ALTER TABLE hourbell_job ADD COLUMN digest BLOB;
DROP INDEX hourbell_job_ready;
CREATE INDEX hourbell_job_ready ON hourbell_job (queue, kind, digest, priority, run_at, id, losses) WHERE state = 0;
-- For claims that take a kind with any args: its jobs with digests, in their order.
CREATE INDEX hourbell_job_digested ON hourbell_job (queue, kind, priority, run_at, id, losses) WHERE state = 0 AND digest IS NOT NULL;
