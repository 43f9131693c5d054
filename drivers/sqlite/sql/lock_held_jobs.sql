-- statement LockHeldJobs, returns HeldColumns
-- The running jobs of a node, and what a loss of these jobs depends on.
SELECT j.id, j.token, j.node, j.attempt, c.reason, j.headers, coalesce(j.schedule_id, 0) AS schedule_id,
       coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = j.schedule_id), '') AS schedule_name, j.slot, j.origin, j.losses, j.begun,
       {j.spec}
FROM hourbell_job AS j
LEFT JOIN hourbell_cancel_request AS c ON c.job_id = j.id
WHERE j.state = 2 AND j.node = :node
ORDER BY j.id
