-- statement listPausedClaims, takes now node, returns id token
-- The claims of a node whose jobs pauses concern.
SELECT j.id, j.token
FROM (SELECT DISTINCT unnest(ids) AS id FROM {schema}.lease WHERE node = :node::bigint AND EXISTS (SELECT FROM {schema}.pause)) AS l
    JOIN {schema}.job AS j ON j.id = ANY (ARRAY[l.id])
WHERE j.node = :node::bigint AND j.running AND {paused(j)}
ORDER BY j.id + 0
