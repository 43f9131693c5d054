-- Locks the $3 oldest batches of jobs that have been kept long enough, failed ones or
-- others, and reads which jobs they note.
SELECT finished_at, id, ids FROM {schema}.history_batch
WHERE failed = $4::boolean AND finished_at < coalesce($1::timestamptz, now()) - $2::bigint * interval '1 microsecond'
ORDER BY failed, finished_at, id LIMIT $3::bigint FOR UPDATE SKIP LOCKED
