-- Notes the numbers of jobs that end now, those that failed apart, for
-- pruning. What is not in history by then is passed over there.
INSERT INTO {schema}.history_batch (finished_at, failed, jobs, ids)
SELECT coalesce(:now::timestamptz, now()), b.failed, cardinality(b.ids), b.ids
FROM (VALUES (false, :completed_ids::bigint[]), (true, :failed_ids::bigint[])) AS b (failed, ids)
WHERE cardinality(b.ids) > 0
