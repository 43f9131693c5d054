-- Reports whether a node is alive, which it stays in a writing transaction, and whether there
-- are pauses.
SELECT EXISTS (SELECT 1 FROM hourbell_node WHERE id = :node AND ended_at IS NULL) AS alive,
       EXISTS (SELECT 1 FROM hourbell_pause) AS pauses
