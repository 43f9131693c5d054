-- shared statement findWaitingJobs, returns id kind group_name origin
-- What handlers get about waiting jobs.
SELECT j.id, j.kind, coalesce(j.group_name, '') AS group_name, j.origin
FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value
ORDER BY j.id
