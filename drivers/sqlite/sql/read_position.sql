-- shared statement readPosition, returns store token node accepted lost_at
-- How far the store has come: its last token and node, and what was reported and accepted.
-- Negative numbers and an empty identity: their rows are missing.
SELECT coalesce((SELECT store FROM hourbell_timeline), '') AS store, coalesce((SELECT value FROM hourbell_counter WHERE name = 'token'), -1) AS token,
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'hourbell_node'), 0) AS node,
  coalesce((SELECT accepted FROM hourbell_timeline), 0) AS accepted, (SELECT lost_at FROM hourbell_timeline) AS lost_at
