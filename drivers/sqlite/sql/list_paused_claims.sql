-- shared statement listPausedClaims, returns id token
-- The claims of a node whose jobs pauses concern.
SELECT j.id, j.token FROM hourbell_job AS j
WHERE j.state = 2 AND j.node = :node AND EXISTS (
  SELECT 1 FROM hourbell_pause AS p
  WHERE (p.until IS NULL OR p.until > :now) AND {concerns(p.subject, p.name, j)})
ORDER BY j.id
