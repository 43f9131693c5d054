-- Locks the schedules of triggered jobs, in the order of their numbers, so that they do
-- not fire concurrently, and returns up to when they have fired ahead, which is at most
-- $3 microseconds.
SELECT s.id, coalesce($1::timestamptz, now()),
    CASE WHEN s.mark > coalesce($1::timestamptz, now())
        AND s.mark <= coalesce($1::timestamptz, now()) + $3::bigint * interval '1 microsecond' THEN s.mark END
FROM {schema}.schedule AS s
WHERE s.id = ANY ($2::bigint[])
ORDER BY s.id FOR UPDATE
