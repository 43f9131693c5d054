-- shared statement listPausedClaims, returns id token
-- The claims of a node whose jobs pauses concern.
SELECT j.id, j.token FROM hourbell_job AS j FORCE INDEX (hourbell_job_ready)
WHERE j.state = 2 AND j.node = :node AND EXISTS (
  SELECT 1 FROM hourbell_pause AS p
  WHERE (p.until IS NULL OR p.until > {at(:now)})
    AND p.name = CASE p.subject WHEN 0 THEN j.group_name WHEN 2 THEN j.kind WHEN 3 THEN j.job_key
      ELSE CASE WHEN LEFT(j.queue, CHAR_LENGTH(p.name) + 1) = concat(p.name, _utf8mb4'@') THEN p.name ELSE j.queue END END)
ORDER BY j.id
