-- statement findStrictLanes, returns id used name strict rated concurrency weights
-- Lanes, whether their limits are strict and have a rate, and what the width of a lane depends on.
SELECT l.id, l.used, l.`key` AS name, t.strict, t.rate > 0 AS rated, t.concurrency, t.weights FROM hourbell_lane AS l JOIN hourbell_job_limit AS t ON t.id = l.limit_id WHERE l.id IN (:ids)
