-- statement PruneNodes
-- Deletes nodes.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_node AS t FORCE INDEX (PRIMARY) ON t.id = o.id
