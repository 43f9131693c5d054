-- statement insertNode, returns id
-- Registers a node.
INSERT INTO hourbell_node (name, version, host, labels, queues, kinds, zones, problems, lease, started_at, seen_at)
VALUES (:name, :version, :host, :labels, :queues, :kinds, :zones, :problems, :lease, :now, :now)
RETURNING id
