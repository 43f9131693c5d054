-- The claims of a node whose jobs pauses concern.
SELECT j.id, j.token FROM hourbell_job AS j
WHERE j.state = 2 AND j.node = :node AND EXISTS (
  SELECT 1 FROM hourbell_pause AS p
  WHERE (p.until IS NULL OR p.until > :now) AND p.name = CASE p.subject WHEN 0 THEN j.group_name WHEN 1 THEN iif(substr(j.queue, 1, length(p.name) + 1) = p.name || '@', p.name, j.queue) WHEN 2 THEN j.kind ELSE j.job_key END)
ORDER BY j.id
