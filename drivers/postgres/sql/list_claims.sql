-- What a node holds.
SELECT j.id, j.token
FROM (SELECT DISTINCT unnest(ids) AS id FROM {schema}.lease WHERE node = $1::bigint) AS l JOIN {schema}.job AS j ON j.id = ANY (ARRAY[l.id])
WHERE j.node = $1::bigint AND j.running
ORDER BY j.id + 0
