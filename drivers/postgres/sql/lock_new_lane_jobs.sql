-- statement lockNewLaneJobs, takes ids, returns laneJobColumns
-- Locks jobs that hold no permits and wait in no lane. Jobs that other transactions have locked are left out.
SELECT j.id, 0::bigint AS lane, j.token > 0 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM {schema}.job AS j
WHERE j.id = ANY (:ids::bigint[]) AND j.state + 0 = 0 AND NOT j.running AND j.permits IS NULL
ORDER BY j.id + 0
FOR UPDATE SKIP LOCKED
