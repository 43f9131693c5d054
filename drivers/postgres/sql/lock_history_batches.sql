-- statement lockHistoryBatches, takes now keep limit failed, returns finished_at id ids
-- Locks the :limit oldest batches, of failed jobs or of other jobs, that have been kept
-- long enough, and returns their jobs.
SELECT finished_at, id, ids FROM {schema}.history_batch
WHERE failed = :failed::boolean AND finished_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
ORDER BY failed, finished_at, id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
