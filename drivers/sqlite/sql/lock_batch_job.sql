-- statement LockBatchJob, returns id
-- A live job of a batch.
SELECT id FROM hourbell_job WHERE batch = :batch LIMIT 1
