-- statement findIdleLanes, returns id
-- Lanes whose first job no living node runs. :served is as in find_idle_jobs.
SELECT l.id FROM hourbell_lane AS l
WHERE l.waiting = 1 AND (
  SELECT concat(j.kind, char(10 USING utf8mb4), j.queue) FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_lane)
  STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = r.job_id WHERE r.lane = l.id
  ORDER BY r.lane, r.priority, r.state, r.run_at, r.job_id LIMIT 1) NOT IN (:served)
ORDER BY l.id LIMIT :limit
