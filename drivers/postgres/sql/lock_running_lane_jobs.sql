-- statement lockRunningLaneJobs, takes queue kind by_key, returns laneJobColumns
-- Locks the running jobs that a limit concerns. Jobs that other transactions have locked are left out.
SELECT j.id, 0::bigint AS lane, false AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM (SELECT DISTINCT unnest(ids) AS id FROM {schema}.lease) AS l JOIN {schema}.job AS j ON j.id = ANY (ARRAY[l.id])
WHERE j.running AND {in_scope(:queue::text, :kind::text, :by_key::boolean, j)}
ORDER BY j.id + 0
FOR UPDATE OF j SKIP LOCKED
