-- statement findHoldingNodes, takes nodes, returns node
-- The nodes among these that still hold running jobs.
SELECT DISTINCT l.node
FROM (SELECT node, unnest(ids) AS id FROM {schema}.lease WHERE node = ANY (:nodes::bigint[])) AS l JOIN {schema}.job AS j ON j.id = ANY (ARRAY[l.id])
WHERE j.node = l.node AND j.running
