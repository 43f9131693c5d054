-- Deletes the oldest finished jobs, and returns their numbers; delete_attempts follows.
DELETE FROM hourbell_history WHERE id IN (
  SELECT id FROM (
    SELECT id, finished_at FROM hourbell_history WHERE state = 3 AND finished_at < :before -- if completed
    UNION ALL                                                                              -- if completed
    SELECT id, finished_at FROM hourbell_history WHERE state = 5 AND finished_at < :before -- if completed
    SELECT id, finished_at FROM hourbell_history WHERE state = 4 AND finished_at < :before -- if failed
    ORDER BY finished_at, id
    LIMIT +:limit))
RETURNING id
