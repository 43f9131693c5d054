-- The earliest run_at after now among ready jobs of a queue, but for suspects.
SELECT min(later.run_at)
FROM generate_series(1, 9) AS p (priority), LATERAL (
    SELECT j.run_at FROM {schema}.job AS j
    WHERE j.state = 0 AND j.queue = $2::text AND j.priority = p.priority AND j.run_at > coalesce($1::timestamptz, now()) AND NOT j.running AND j.losses < 2
    ORDER BY j.run_at, j.id LIMIT 1
) AS later
