-- Begins the sequence of nodes if no node has registered yet.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'hourbell_node', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'hourbell_node')
