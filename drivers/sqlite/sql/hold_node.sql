SELECT EXISTS (SELECT 1 FROM hourbell_node WHERE id = :node AND ended_at IS NULL) AS alive
