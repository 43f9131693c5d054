-- statement findLaneJobs, returns id
-- The first jobs that wait in a lane and are not paused.
SELECT r.job_id AS id FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_lane)
STRAIGHT_JOIN hourbell_job AS w FORCE INDEX (PRIMARY) ON w.id = r.job_id
WHERE r.lane = :lane AND NOT EXISTS (
  SELECT 1 FROM hourbell_pause AS p WHERE {concerns(p.subject, p.name, w)}
    AND (p.until IS NULL OR p.until > {at(:now)}))
ORDER BY r.lane, r.priority, r.state, r.run_at, r.job_id LIMIT :limit
