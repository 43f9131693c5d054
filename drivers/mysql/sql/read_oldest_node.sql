-- shared statement readOldestNode, returns node
-- The oldest living node; 0: no node lives.
SELECT coalesce(min(id), 0) AS node FROM hourbell_node WHERE ended_at IS NULL
