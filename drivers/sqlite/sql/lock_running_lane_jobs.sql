-- The running jobs that a limit concerns.
SELECT j.id, 0 AS lane, 0 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM hourbell_job AS j
WHERE j.state = 2 AND :queue IN ('', j.queue) AND :kind IN ('', j.kind) AND (NOT :by_key OR j.job_key IS NOT NULL)
