-- statement listClaims, takes node, returns id token
-- The claims of a node.
SELECT j.id, j.token
FROM (SELECT DISTINCT unnest(ids) AS id FROM {schema}.lease WHERE node = :node::bigint) AS l JOIN {schema}.job AS j ON j.id = ANY (ARRAY[l.id])
WHERE j.node = :node::bigint AND j.running
ORDER BY j.id + 0
