-- statement findIdleHeads, returns id
-- The jobs among the first 100 of a lane that no living node runs. :served is as in find_idle_jobs.
SELECT w.id FROM (
  SELECT j.id, concat(j.kind, char(10 USING utf8mb4), j.queue) AS of_queue FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_lane)
  STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = r.job_id WHERE r.lane = :lane
  ORDER BY r.lane, r.priority, r.state, r.run_at, r.job_id LIMIT 100) AS w
WHERE w.of_queue NOT IN (:served)
