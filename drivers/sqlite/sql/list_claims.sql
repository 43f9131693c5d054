-- statement ListClaims, returns id token
-- The claims of a node.
SELECT j.id, j.token FROM hourbell_job AS j
WHERE j.state = 2 AND j.node = :node
ORDER BY j.id
