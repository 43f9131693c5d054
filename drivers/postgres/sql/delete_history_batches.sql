-- statement deleteHistoryBatches, takes failed finished_ats ids
-- Deletes locked batches.
DELETE FROM {schema}.history_batch AS b
USING unnest(:finished_ats::timestamptz[], :ids::bigint[]) AS used (finished_at, id)
WHERE b.failed = :failed::boolean AND b.finished_at = used.finished_at AND b.id = used.id
