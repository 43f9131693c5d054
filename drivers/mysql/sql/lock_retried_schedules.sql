-- statement lockRetriedSchedules, returns id
-- Locks the schedules of finished jobs that may run again, in the order of their numbers, so
-- that they do not fire concurrently.
SELECT s.id FROM (
  SELECT DISTINCT h.schedule_id FROM hourbell_history AS h FORCE INDEX (PRIMARY) WHERE h.id IN (:ids) AND h.schedule_id IS NOT NULL ORDER BY h.schedule_id LIMIT 1000000
) AS o STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (PRIMARY) ON s.id = o.schedule_id
FOR UPDATE
