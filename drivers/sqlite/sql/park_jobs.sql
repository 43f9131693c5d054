-- statement ParkJobs
-- Parks due jobs of paused groups, also jobs that wait in lanes, and of paused keys: at most :limit jobs of each group and state, or key.
UPDATE hourbell_job SET state = -1, lane = NULL
WHERE id IN (
  SELECT j.id FROM hourbell_pause AS p CROSS JOIN json_each('[0,-2,-3]') AS s CROSS JOIN hourbell_job AS j ON j.id IN (
    SELECT d.id FROM hourbell_job AS d
    WHERE d.group_name = p.name AND d.state = s.value AND d.run_at <= :now
    ORDER BY d.run_at, d.id LIMIT +:limit)
  WHERE p.subject = 0 AND (p.until IS NULL OR p.until > :now)
  UNION ALL
  SELECT j.id FROM hourbell_pause AS p CROSS JOIN hourbell_job AS j ON j.id IN (
    SELECT d.id FROM hourbell_job AS d
    WHERE d.job_key = p.name AND d.state = 0 AND d.run_at <= :now
    ORDER BY d.run_at, d.id LIMIT +:limit)
  WHERE p.subject = 3 AND (p.until IS NULL OR p.until > :now))
