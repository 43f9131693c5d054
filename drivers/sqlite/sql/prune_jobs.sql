-- Deletes the oldest finished jobs and returns their numbers; delete_attempts follows. Jobs
-- that hold their keys stay, jobs of a batch that has live jobs, and predecessors of live
-- jobs. Jobs with a retention of their own are a sort of their
-- own.
DELETE FROM hourbell_history WHERE id IN (
  SELECT id FROM (
    SELECT id, finished_at AS at FROM hourbell_history AS h WHERE state = 3 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) AND NOT (h.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = h.batch)) AND NOT (h.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = h.id)) -- if completed
    UNION ALL -- if completed
    SELECT id, finished_at FROM hourbell_history AS h WHERE state = 5 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) AND NOT (h.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = h.batch)) AND NOT (h.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = h.id)) -- if completed
    SELECT id, finished_at AS at FROM hourbell_history AS h WHERE state = 4 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) AND NOT (h.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = h.batch)) AND NOT (h.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = h.id)) -- if failed
    UNION ALL -- if failed
    SELECT id, finished_at FROM hourbell_history AS h WHERE state = 6 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) AND NOT (h.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = h.batch)) AND NOT (h.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = h.id)) -- if failed
    SELECT id, keep_until AS at FROM hourbell_history AS h WHERE keep_until < :before AND NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > :now) AND NOT (h.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = h.batch)) AND NOT (h.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = h.id)) -- if kept
    ORDER BY at, id
    LIMIT +:limit))
RETURNING id
