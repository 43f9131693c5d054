-- The clock, and the earliest next_at after it.
SELECT coalesce($1::timestamptz, now()),
    (SELECT next_at FROM {schema}.schedule WHERE next_at > coalesce($1::timestamptz, now()) ORDER BY next_at, id LIMIT 1)
