-- statement findTriggeredSchedules, takes now schedules, returns id now mark
-- statement lockTriggeredSchedules, given locking, takes now schedules, returns id now mark
-- Locks the schedules of triggered jobs, in the order of their numbers, so that they do
-- not fire concurrently. Returns the clock and the mark of each. A caller's transaction
-- does not lock them, because they could not fire until it ends.
SELECT s.id, coalesce(:now::timestamptz, now()) AS now, s.mark
FROM {schema}.schedule AS s
WHERE s.id = ANY (:schedules::bigint[])
ORDER BY s.id
FOR UPDATE     -- if locking
