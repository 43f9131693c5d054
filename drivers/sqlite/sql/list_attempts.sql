-- statement ListAttempts, returns job_id attempt token node started_at finished_at outcome error trace output printed
-- The attempts of jobs, oldest first.
SELECT a.job_id, a.attempt, a.token, a.node, a.started_at, a.finished_at, a.outcome, a.error, a.trace, a.output, max(a.printed, length(a.output)) AS printed
FROM json_each(:ids) AS o
CROSS JOIN hourbell_attempt AS a ON a.job_id = o.value
ORDER BY o.key, a.token
