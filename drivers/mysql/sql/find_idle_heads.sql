-- The jobs among the first 100 of a lane that no living node runs. :served is as in find_idle_jobs.
SELECT w.id FROM (
  SELECT j.id, concat(j.kind, char(10 USING utf8mb4), j.queue) AS of_queue FROM hourbell_job AS j FORCE INDEX (hourbell_job_lane) WHERE j.lane = :lane
  ORDER BY j.lane, j.priority, j.state, j.run_at, j.id LIMIT 100) AS w
WHERE w.of_queue NOT IN (:served)
