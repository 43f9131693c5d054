-- Notes the numbers of jobs that end now, those that failed apart, for
-- pruning. What is not in history by then is passed over there.
INSERT INTO {schema}.history_batch (finished_at, failed, jobs, ids)
SELECT coalesce($1::timestamptz, now()), b.failed, cardinality(b.ids), b.ids
FROM (VALUES (false, $2::bigint[]), (true, $3::bigint[])) AS b (failed, ids)
WHERE cardinality(b.ids) > 0
