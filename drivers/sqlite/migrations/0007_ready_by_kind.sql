-- A claim looks for the kinds that its node takes, and walks over no others.
DROP INDEX hourbell_job_ready;
CREATE INDEX hourbell_job_ready ON hourbell_job (queue, kind, priority, run_at, id) WHERE state = 0;
