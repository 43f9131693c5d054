-- shared statement deleteEndedLimits
-- Deletes limits that have ended and have no lanes.
DELETE FROM hourbell_job_limit
WHERE ended_at IS NOT NULL AND (SELECT l.id FROM hourbell_lane AS l WHERE l.limit_id = hourbell_job_limit.id LIMIT 1) IS NULL
