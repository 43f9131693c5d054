-- statement findStrictLanes, returns id strict rated
-- Lanes, and whether their limits are strict and have a rate.
SELECT l.id, t.strict, t.rate > 0 AS rated FROM hourbell_lane AS l JOIN hourbell_job_limit AS t ON t.id = l.limit_id WHERE l.id IN (:ids)
