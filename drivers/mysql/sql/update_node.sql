-- Continues the registration of a node.
UPDATE hourbell_node
SET version = :version, host = :host, labels = :labels, queues = :queues, kinds = :kinds, zones = :zones, problems = :problems, lease = :lease
WHERE id = :node AND ended_at IS NULL
