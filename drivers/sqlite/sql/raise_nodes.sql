UPDATE sqlite_sequence SET seq = max(seq, (SELECT seen_node FROM hourbell_timeline)) + :margin WHERE name = 'hourbell_node'
