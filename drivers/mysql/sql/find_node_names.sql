-- statement findNodeNames, returns id name
-- The names of nodes. A name never changes, so that an old snapshot has it, too.
SELECT id, name FROM hourbell_node WHERE id IN (:nodes)
