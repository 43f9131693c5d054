-- Registers a node.
INSERT INTO hourbell_node (id, name, version, host, labels, queues, kinds, lease, started_at, seen_at)
VALUES (:node, :name, :version, :host, :labels, :queues, :kinds, :lease, {at(:now)}, {at(:now)})
