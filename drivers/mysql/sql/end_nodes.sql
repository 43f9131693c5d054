-- shared statement endNodes
-- Ends nodes that have not ended.
UPDATE hourbell_node AS n FORCE INDEX (PRIMARY) STRAIGHT_JOIN hourbell_heartbeat AS h ON h.node = n.id
SET n.seen_at = h.seen_at, n.ended_at = {at(:now)}, n.died = :died WHERE n.id IN (:nodes) AND n.ended_at IS NULL
