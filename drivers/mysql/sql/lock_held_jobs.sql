-- statement LockHeldJobs, returns HeldColumns
-- Locks the running jobs of a node, except jobs that other transactions have locked, and returns what a loss of these
-- jobs depends on. Jobs are found without locks, and locked by their numbers, because a search of another index would lock entries
-- of the jobs that it leaves out.
SELECT j.id, j.token, j.node, j.attempt, (SELECT c.reason FROM hourbell_cancel_request AS c WHERE c.job_id = j.id) AS reason, j.headers,
  COALESCE(j.schedule_id, 0) AS schedule_id, COALESCE((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = j.schedule_id), _utf8mb4'') AS schedule_name,
  {micros(j.slot)} AS slot, j.origin, j.losses, j.begun, {j.spec}
FROM (
  SELECT f.id FROM hourbell_job AS f FORCE INDEX (hourbell_job_ready) WHERE f.state = 2 AND f.node = :node
  ORDER BY f.id LIMIT 1000000000
) AS o STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.node = :node AND j.state = 2
FOR UPDATE SKIP LOCKED
