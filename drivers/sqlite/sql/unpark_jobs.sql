-- Makes parked jobs of groups whose pauses have ended claimable: at most :limit jobs of each
-- group.
UPDATE hourbell_job SET state = 0
WHERE id IN (
  SELECT j.id FROM hourbell_pause AS p CROSS JOIN hourbell_job AS j ON j.id IN (
    SELECT d.id FROM hourbell_job AS d
    WHERE d.group_name = p.name AND d.state = -1
    ORDER BY d.run_at, d.id LIMIT +:limit)
  WHERE p.subject = 0 AND p.until <= :now)
