-- shared statement findOccupiedLanes, returns id
-- The lanes among these in which jobs wait.
SELECT l.id FROM hourbell_lane AS l WHERE l.id IN (:ids) AND (SELECT j.job_id FROM hourbell_job_rare AS j WHERE j.lane = l.id LIMIT 1) IS NOT NULL
