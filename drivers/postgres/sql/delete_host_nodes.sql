-- statement deleteHostNodes, takes host
-- Deletes the nodes of a host that have ended.
DELETE FROM {schema}.node WHERE host = :host AND ended_at IS NOT NULL AND look_at IS NULL
