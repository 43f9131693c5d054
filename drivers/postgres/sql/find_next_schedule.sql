-- statement findNextSchedule, takes now ahead, returns now next_at
-- The clock, and the earliest next_at after it and :ahead microseconds more.
SELECT coalesce(:now::timestamptz, now()) AS now,
    (SELECT next_at FROM {schema}.schedule
    WHERE next_at > coalesce(:now::timestamptz, now()) + :ahead::bigint * interval '1 microsecond'
    ORDER BY next_at, id LIMIT 1) AS next_at
