-- Locks the :limit oldest batches of jobs that have been kept long enough, failed ones or
-- others, and reads which jobs they note.
SELECT finished_at, id, ids FROM {schema}.history_batch
WHERE failed = :failed::boolean AND finished_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
ORDER BY failed, finished_at, id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
