-- statement lockRateLanes, returns limit_id tat
-- The lanes of limits of whole queues. Claims of a queue with a rate happen one after the other.
SELECT limit_id, {micros(tat)} AS tat FROM hourbell_lane FORCE INDEX (hourbell_lane_of) WHERE limit_id IN (:limits) AND `key` = _utf8mb4'' ORDER BY limit_id FOR UPDATE
