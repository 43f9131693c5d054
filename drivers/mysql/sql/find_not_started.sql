-- shared statement findNotStarted, returns id kind unique_key
-- Which of these jobs were not started, and their keys.
SELECT h.id, h.kind, coalesce(h.unique_key, _utf8mb4'') AS unique_key FROM hourbell_history AS h FORCE INDEX (PRIMARY) WHERE h.id IN (:ids) AND h.state = 6 ORDER BY h.id
