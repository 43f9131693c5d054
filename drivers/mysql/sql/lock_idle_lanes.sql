-- shared statement lockIdleLanes, returns id
-- Locks lanes that hold no permits and no starts, in which no job waits, and that are not to be looked at. Lanes of limits
-- that have ended, and lanes that other transactions have locked, are left out.
SELECT id FROM hourbell_lane FORCE INDEX (PRIMARY) WHERE used <= 0 AND starts <= 0 AND waiting = 0 AND look_at IS NULL
AND limit_id NOT IN (SELECT t.id FROM hourbell_job_limit AS t WHERE t.ended_at IS NOT NULL)
ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED
