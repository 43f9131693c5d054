-- Pauses of keys: the subject 3 of hourbell_pause. The state of a job may be -1: ready, and parked because its group or its key
-- is paused.
CREATE INDEX hourbell_job_key ON hourbell_job (job_key, state, run_at, id) WHERE job_key IS NOT NULL;
