-- statement cutHistoryBatch, takes failed finished_at id left
-- Keeps only the jobs :left in a locked batch.
UPDATE {schema}.history_batch SET jobs = cardinality(:left::bigint[]), ids = :left::bigint[]
WHERE failed = :failed::boolean AND finished_at = :finished_at::timestamptz AND id = :id::bigint
