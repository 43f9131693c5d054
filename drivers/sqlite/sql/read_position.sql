SELECT coalesce((SELECT store FROM hourbell_timeline), ''), (SELECT value FROM hourbell_counter WHERE name = 'token'),
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'hourbell_node'), 0),
  coalesce((SELECT accepted FROM hourbell_timeline), 0), (SELECT lost_at FROM hourbell_timeline)
