-- shared statement endNodes
-- Ends nodes that have not ended.
UPDATE hourbell_node SET ended_at = :now, died = :died WHERE id IN (SELECT value FROM json_each(:nodes)) AND ended_at IS NULL
