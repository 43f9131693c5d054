-- The first jobs that wait in lanes and are not paused, of each lane so many.
SELECT j.id, j.lane, j.state = -3 AS first, j.run_at, j.queue, j.kind, coalesce(j.job_key, '') AS job_key, j.priority
FROM json_each(:lanes) AS o CROSS JOIN hourbell_job AS j ON j.id IN (
  SELECT w.id FROM hourbell_job AS w WHERE w.lane = o.value AND NOT EXISTS (
    SELECT 1 FROM hourbell_pause AS p WHERE p.name = CASE p.subject WHEN 0 THEN w.group_name WHEN 1 THEN iif(substr(w.queue, 1, length(p.name) + 1) = p.name || '@', p.name, w.queue) WHEN 2 THEN w.kind ELSE w.job_key END
      AND (p.until IS NULL OR p.until > :now))
  ORDER BY w.priority, w.state, w.run_at, w.id LIMIT +:limit)
