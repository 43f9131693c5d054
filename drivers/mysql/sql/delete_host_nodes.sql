-- shared statement deleteHostNodes
-- Deletes the nodes of a host that have ended.
DELETE FROM hourbell_node WHERE host = :host AND ended_at IS NOT NULL AND look_at IS NULL
