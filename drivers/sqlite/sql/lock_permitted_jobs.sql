-- shared statement lockPermittedJobs, returns id permits
-- Jobs that hold permits and that no node has claimed.
SELECT j.id, j.permits FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value
WHERE j.permits IS NOT NULL AND j.state IN (0, -1)
