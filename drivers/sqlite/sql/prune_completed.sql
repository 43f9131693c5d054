DELETE FROM hourbell_history WHERE id IN (
  SELECT id FROM (
    SELECT id, finished_at FROM hourbell_history WHERE state = 3 AND finished_at < :before
    UNION ALL
    SELECT id, finished_at FROM hourbell_history WHERE state = 5 AND finished_at < :before
    ORDER BY finished_at, id
    LIMIT +:limit))
RETURNING id
