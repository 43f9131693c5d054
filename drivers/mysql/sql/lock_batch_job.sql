-- Locks a live job of a batch, so that the job does not end.
SELECT id FROM hourbell_job FORCE INDEX (hourbell_job_of_batch) WHERE batch = :batch LIMIT 1 LOCK IN SHARE MODE
