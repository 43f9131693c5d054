-- The first jobs that wait in a lane and are not paused.
SELECT w.id FROM hourbell_job AS w FORCE INDEX (hourbell_job_lane)
WHERE w.lane = :lane AND NOT EXISTS (
  SELECT 1 FROM hourbell_pause AS p WHERE {concerns(p.subject, p.name, w)}
    AND (p.until IS NULL OR p.until > {at(:now)}))
ORDER BY w.lane, w.priority, w.state, w.run_at, w.id LIMIT :limit
