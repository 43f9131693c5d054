-- statement findOldNodes, returns id
-- The oldest nodes that ended long ago.
SELECT id FROM hourbell_node WHERE ended_at < {at(:before)} AND look_at IS NULL ORDER BY ended_at, id LIMIT :limit
