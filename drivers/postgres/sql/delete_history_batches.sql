-- Deletes locked batches.
DELETE FROM {schema}.history_batch AS b
USING unnest($2::timestamptz[], $3::bigint[]) AS used (finished_at, id)
WHERE b.failed = $1::boolean AND b.finished_at = used.finished_at AND b.id = used.id
