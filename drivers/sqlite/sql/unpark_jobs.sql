-- statement UnparkJobs
-- Makes parked jobs of groups and keys whose pauses have ended claimable, unless another pause
-- parks them: at most :limit jobs of each group and key.
UPDATE hourbell_job SET state = 0
WHERE id IN (
  SELECT j.id FROM hourbell_pause AS p CROSS JOIN hourbell_job AS j ON j.id IN (
    SELECT d.id FROM hourbell_job AS d
    WHERE d.group_name = p.name AND d.state = -1
      AND NOT EXISTS (SELECT 1 FROM hourbell_pause AS o WHERE o.subject = 3 AND o.name = d.job_key AND (o.until IS NULL OR o.until > :now))
    ORDER BY d.run_at, d.id LIMIT +:limit)
  WHERE p.subject = 0 AND p.until <= :now
  UNION ALL
  SELECT j.id FROM hourbell_pause AS p CROSS JOIN hourbell_job AS j ON j.id IN (
    SELECT d.id FROM hourbell_job AS d
    WHERE d.job_key = p.name AND d.state = -1
      AND NOT EXISTS (SELECT 1 FROM hourbell_pause AS o WHERE o.subject = 0 AND o.name = d.group_name AND (o.until IS NULL OR o.until > :now))
    ORDER BY d.run_at, d.id LIMIT +:limit)
  WHERE p.subject = 3 AND p.until <= :now)
