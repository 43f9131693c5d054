-- Deletes the oldest finished jobs, except jobs that hold their keys, and returns their
-- numbers; delete_attempts follows.
DELETE FROM hourbell_history WHERE id IN (
  SELECT id FROM (
    SELECT id, finished_at FROM hourbell_history AS h WHERE state = 3 AND finished_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) -- if completed
    UNION ALL -- if completed
    SELECT id, finished_at FROM hourbell_history AS h WHERE state = 5 AND finished_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) -- if completed
    SELECT id, finished_at FROM hourbell_history AS h WHERE state = 4 AND finished_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) -- if failed
    ORDER BY finished_at, id
    LIMIT +:limit))
RETURNING id
