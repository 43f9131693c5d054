DELETE FROM hourbell_history WHERE id IN (
  SELECT id FROM hourbell_history WHERE state = 4 AND finished_at < :before
  ORDER BY finished_at, id
  LIMIT +:limit)
RETURNING id
