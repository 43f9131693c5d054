-- statement findParkedOfKey, given of_key, returns id
-- statement findParkedOfGroup, given of_group, returns id
-- The first parked jobs of a group or a key that no other pause parks.
SELECT d.job_id AS id FROM hourbell_job_rare AS d
WHERE d.group_name = :name AND d.state = -1 -- if of_group
  AND (d.job_key IS NULL OR NOT EXISTS (SELECT 1 FROM hourbell_pause AS o WHERE o.subject = 3 AND o.name = d.job_key AND (o.until IS NULL OR o.until > {at(:now)}))) -- if of_group
WHERE d.job_key = :name AND d.state = -1 -- if of_key
  AND (d.group_name IS NULL OR NOT EXISTS (SELECT 1 FROM hourbell_pause AS o WHERE o.subject = 0 AND o.name = d.group_name AND (o.until IS NULL OR o.until > {at(:now)}))) -- if of_key
ORDER BY d.run_at, d.job_id LIMIT :limit
