-- shared statement findNotStarted, returns id kind unique_key
-- Which of these jobs were not started, and their keys.
SELECT h.id, h.kind, coalesce(h.unique_key, '') AS unique_key FROM json_each(:ids) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value WHERE h.state = 6 ORDER BY h.id
