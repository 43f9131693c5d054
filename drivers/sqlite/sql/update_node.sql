-- statement updateNode, returns id
-- Continues the registration of a node, and extends its lease; no row: the node
-- has no lease.
UPDATE hourbell_node
SET version = :version, host = :host, labels = :labels, queues = :queues, kinds = :kinds, zones = :zones, problems = :problems, lease = :lease, seen_at = :now, beats = beats + 1
WHERE id = :node AND ended_at IS NULL
RETURNING id
