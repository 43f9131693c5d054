-- statement lockRunningLaneJobs, returns sqlrows.LaneJobColumns
-- The running jobs that a limit concerns.
SELECT j.id, 0 AS lane, 0 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM hourbell_job AS j
WHERE j.state = 2 AND {in_scope(:queue, :kind, :by_key, j)}
