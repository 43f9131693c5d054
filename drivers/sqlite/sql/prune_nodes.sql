-- statement PruneNodes
-- Deletes nodes that ended long ago.
DELETE FROM hourbell_node WHERE id IN (
  SELECT id FROM hourbell_node WHERE ended_at < :before
  ORDER BY ended_at, id
  LIMIT +:limit)
