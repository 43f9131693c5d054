-- Locks the pauses of groups and keys that have due jobs which are not parked.
SELECT p.subject, p.name FROM hourbell_pause AS p
WHERE p.subject IN (0, 3) AND (p.until IS NULL OR p.until > {at(:now)})
  AND CASE p.subject
    WHEN 0 THEN (SELECT j.job_id FROM hourbell_job_rare AS j WHERE j.group_name = p.name AND j.state IN (0, -2, -3) AND j.run_at <= {at(:now)} LIMIT 1)
    ELSE (SELECT j.job_id FROM hourbell_job_rare AS j WHERE j.job_key = p.name AND j.state = 0 AND j.run_at <= {at(:now)} LIMIT 1) END IS NOT NULL
ORDER BY p.subject, p.name FOR UPDATE
