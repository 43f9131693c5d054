-- statement findRunningLaneJobs, returns id
-- The running jobs that a limit concerns.
SELECT j.id FROM hourbell_job AS j
WHERE j.state = 2 AND {in_scope(:queue, :kind, :by_key, j)}
