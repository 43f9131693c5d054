-- Ends nodes that have not ended.
UPDATE hourbell_node FORCE INDEX (PRIMARY) SET ended_at = {at(:now)}, died = :died WHERE id IN (:nodes) AND ended_at IS NULL
