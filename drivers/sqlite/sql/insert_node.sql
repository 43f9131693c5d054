-- Registers a node.
INSERT INTO hourbell_node (name, version, queues, kinds, lease, started_at, seen_at)
VALUES (:name, :version, :queues, :kinds, :lease, :now, :now)
RETURNING id
