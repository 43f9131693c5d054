-- statement DeleteGonePermits
-- Deletes permits of nodes.
DELETE t FROM JSON_TABLE(:permits, '$[*]' COLUMNS (limit_id BIGINT PATH '$.limit', node BIGINT PATH '$.node')) AS o
STRAIGHT_JOIN hourbell_node_permit AS t FORCE INDEX (PRIMARY) ON t.limit_id = o.limit_id AND t.node = o.node
