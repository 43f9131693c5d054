-- statement pruneCompletedJobs, given completed, returns id
-- statement pruneFailedJobs, given failed, returns id
-- statement pruneKeptJobs, given kept, returns id
-- Deletes the oldest finished jobs and returns their numbers; delete_attempts follows. Jobs
-- that hold their keys stay, jobs of a batch that has live jobs, and predecessors of live
-- jobs. Jobs with a retention of their own are a sort of their
-- own.
DELETE FROM hourbell_history WHERE id IN (
  SELECT id FROM (
    SELECT id, finished_at AS at FROM hourbell_history AS h WHERE state = 3 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND {deletable(h)} -- if completed
    UNION ALL -- if completed
    SELECT id, finished_at FROM hourbell_history AS h WHERE state = 5 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND {deletable(h)} -- if completed
    SELECT id, finished_at AS at FROM hourbell_history AS h WHERE state = 4 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND {deletable(h)} -- if failed
    UNION ALL -- if failed
    SELECT id, finished_at FROM hourbell_history AS h WHERE state = 6 AND (keep_until IS NOT NULL) = 0 AND finished_at < :before AND {deletable(h)} -- if failed
    SELECT id, keep_until AS at FROM hourbell_history AS h WHERE keep_until < :before AND {deletable(h)} -- if kept
    ORDER BY at, id
    LIMIT +:limit))
RETURNING id
