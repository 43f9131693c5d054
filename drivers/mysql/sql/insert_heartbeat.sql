-- Begins the lease of a node.
INSERT INTO hourbell_heartbeat (node, seen_at) VALUES (:node, {at(:now)})
