-- shared statement raiseNodes
-- Raises the sequence of nodes above its last value and above the values that were reported.
UPDATE sqlite_sequence SET seq = max(seq, (SELECT seen_node FROM hourbell_timeline)) + :margin WHERE name = 'hourbell_node'
