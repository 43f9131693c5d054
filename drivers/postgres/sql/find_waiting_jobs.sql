-- statement findWaitingJobs, takes ids, returns id kind group_name origin
-- What handlers get about waiting jobs.
SELECT j.id, j.kind, coalesce(j.group_name, '') AS group_name, j.origin FROM {schema}.job AS j
WHERE j.id = ANY (:ids::bigint[])
ORDER BY j.id + 0
