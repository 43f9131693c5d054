-- shared statement raiseNodes
-- Raises the counter of nodes above its value and above the values that were reported.
UPDATE hourbell_counter SET value = greatest(value, (SELECT seen_node FROM hourbell_timeline)) + :margin WHERE name = 'node'
