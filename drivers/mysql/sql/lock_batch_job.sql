-- statement LockBatchJob, returns id
-- Locks a live job of a batch, so that the job does not end.
SELECT job_id AS id FROM hourbell_job_rare FORCE INDEX (hourbell_rare_batch) WHERE batch = :batch LIMIT 1 LOCK IN SHARE MODE
