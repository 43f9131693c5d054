UPDATE hourbell_node SET seen_at = :now WHERE id = :node AND ended_at IS NULL
