-- Locks the schedules of triggered jobs, in the order of their numbers, so that they do
-- not fire concurrently. Returns the clock and the mark of each.
SELECT s.id, coalesce(:now::timestamptz, now()) AS now, s.mark
FROM {schema}.schedule AS s
WHERE s.id = ANY (:schedules::bigint[])
ORDER BY s.id FOR UPDATE
