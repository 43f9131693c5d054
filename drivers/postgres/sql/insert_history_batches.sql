-- statement insertHistoryBatches, takes now completed_ids failed_ids
-- Records the numbers of jobs that end now, for pruning: failed jobs in one batch, other
-- jobs in another. Pruning ignores jobs that history does not have by then.
INSERT INTO {schema}.history_batch (finished_at, failed, jobs, ids)
SELECT coalesce(:now::timestamptz, now()), b.failed, cardinality(b.ids), b.ids
FROM (VALUES (false, :completed_ids::bigint[]), (true, :failed_ids::bigint[])) AS b (failed, ids)
WHERE cardinality(b.ids) > 0
