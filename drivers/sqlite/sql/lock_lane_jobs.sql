-- statement lockLaneJobs, returns sqlrows.LaneJobColumns
-- The first jobs that wait in lanes and are not paused, of each lane so many.
SELECT j.id, j.lane, j.state = -3 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM json_each(:lanes) AS o CROSS JOIN hourbell_job AS j ON j.id IN (
  SELECT w.id FROM hourbell_job AS w WHERE w.lane = o.value AND NOT EXISTS (
    SELECT 1 FROM hourbell_pause AS p WHERE {concerns(p.subject, p.name, w)}
      AND (p.until IS NULL OR p.until > :now))
  ORDER BY w.priority, w.state, w.run_at, w.id LIMIT +:limit)
