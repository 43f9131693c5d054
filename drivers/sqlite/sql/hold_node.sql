-- Reports whether a node is alive; in a writing transaction it stays so.
SELECT EXISTS (SELECT 1 FROM hourbell_node WHERE id = :node AND ended_at IS NULL) AS alive
