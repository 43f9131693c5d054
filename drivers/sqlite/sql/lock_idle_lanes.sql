-- shared statement lockIdleLanes, returns id
-- Lanes that hold no permits and no starts, in which no job waits, and that are not to be looked at. Lanes of limits that have ended are left out.
SELECT id FROM hourbell_lane WHERE used <= 0 AND starts <= 0 AND NOT waiting AND look_at IS NULL
AND limit_id NOT IN (SELECT t.id FROM hourbell_job_limit AS t WHERE t.ended_at IS NOT NULL) ORDER BY id LIMIT +:limit
