-- statement listAttempts, takes ids, returns job_id attempt token node started_at finished_at outcome error trace output printed
-- The attempts of jobs, oldest first.
SELECT a.job_id, a.attempt, a.token, n.name AS node, a.started_at, a.finished_at, a.outcome, a.error, a.trace, a.output, greatest(a.printed, length(a.output)) AS printed
FROM {schema}.attempt AS a LEFT JOIN {schema}.node AS n ON n.id = a.node
WHERE a.job_id = ANY (:ids::bigint[])
ORDER BY a.job_id, a.token
