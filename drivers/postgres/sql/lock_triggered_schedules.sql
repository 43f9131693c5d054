-- Locks the schedules of triggered jobs, in the order of their numbers, so that they do
-- not fire concurrently. Returns up to when each has fired early, which is at most
-- :most_ahead microseconds.
SELECT s.id, coalesce(:now::timestamptz, now()) AS now,
    CASE WHEN s.mark > coalesce(:now::timestamptz, now())
        AND s.mark <= coalesce(:now::timestamptz, now()) + :most_ahead::bigint * interval '1 microsecond' THEN s.mark END AS fired_to
FROM {schema}.schedule AS s
WHERE s.id = ANY (:schedules::bigint[])
ORDER BY s.id FOR UPDATE
