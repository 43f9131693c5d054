-- statement lockBatchJob, takes batch, returns id
-- Locks a live job of a batch, so that the job does not end. Claims wait for nothing.
SELECT id FROM {schema}.job WHERE batch = :batch::bigint LIMIT 1 FOR KEY SHARE
