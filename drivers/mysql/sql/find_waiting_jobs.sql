-- shared statement findWaitingJobs, returns id kind group_name origin
-- What handlers get about waiting jobs.
SELECT j.id, j.kind, coalesce(j.group_name, _utf8mb4'') AS group_name, j.origin
FROM hourbell_job AS j FORCE INDEX (PRIMARY)
WHERE j.id IN (:ids)
ORDER BY j.id
{share}
