-- statement findJobNodes, returns id node
-- The nodes that claimed live jobs last.
SELECT j.id, j.node
FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS x) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.node <> 0
{share}
