-- Registers a node.
INSERT INTO hourbell_node (id, name, version, host, labels, queues, kinds, zones, problems, lease, started_at, seen_at)
VALUES (:node, :name, :version, :host, :labels, :queues, :kinds, :zones, :problems, :lease, {at(:now)}, {at(:now)})
