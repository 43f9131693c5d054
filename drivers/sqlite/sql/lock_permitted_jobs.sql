-- Jobs that a limit concerns, that hold permits and that no node has claimed.
SELECT j.id, j.permits FROM hourbell_job AS j
WHERE j.permits IS NOT NULL AND j.state = 0 AND :queue IN ('', j.queue) AND :kind IN ('', j.kind) AND (NOT :by_key OR j.job_key IS NOT NULL)
ORDER BY j.id LIMIT +:limit
