-- Lanes whose first job no living node runs. :served is as in find_idle_jobs.
SELECT l.id FROM hourbell_lane AS l
WHERE l.waiting = 1 AND (
  SELECT concat(j.kind, char(10 USING utf8mb4), j.queue) FROM hourbell_job AS j FORCE INDEX (hourbell_job_lane) WHERE j.lane = l.id
  ORDER BY j.lane, j.priority, j.state, j.run_at, j.id LIMIT 1) NOT IN (:served)
ORDER BY l.id LIMIT :limit
