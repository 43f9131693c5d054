-- shared statement deleteEndedLimits
-- Deletes limits that have ended and have no lanes.
DELETE FROM hourbell_job_limit AS t WHERE t.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM hourbell_lane AS l WHERE l.limit_id = t.id)
