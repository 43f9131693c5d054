-- Locks the running jobs of a node, except jobs that other transactions have locked, and returns what a loss of these
-- jobs depends on.
SELECT j.id, j.token, j.node, j.attempt, (SELECT c.reason FROM hourbell_cancel_request AS c WHERE c.job_id = j.id) AS reason, j.headers,
  COALESCE(j.schedule_id, 0) AS schedule_id, COALESCE((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = j.schedule_id), _utf8mb4'') AS schedule_name,
  {micros(j.slot)} AS slot, j.origin, j.losses, j.begun, {j.spec}
FROM hourbell_job AS j FORCE INDEX (hourbell_job_running)
WHERE j.node = :node AND j.state = 2
ORDER BY j.id
FOR UPDATE SKIP LOCKED
