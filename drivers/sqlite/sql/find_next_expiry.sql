SELECT min(seen_at + lease) FROM hourbell_node WHERE ended_at IS NULL AND id <> :node
