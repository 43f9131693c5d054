-- The clock, and the earliest next_at after it and $2 microseconds more.
SELECT coalesce($1::timestamptz, now()),
    (SELECT next_at FROM {schema}.schedule
    WHERE next_at > coalesce($1::timestamptz, now()) + $2::bigint * interval '1 microsecond'
    ORDER BY next_at, id LIMIT 1)
