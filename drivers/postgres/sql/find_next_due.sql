-- The earliest run_at after now among the ready jobs of a queue, without suspects.
SELECT min(later.run_at) AS next_due
FROM generate_series(1, 9) AS p (priority), LATERAL (
    SELECT j.run_at FROM {schema}.job AS j
    WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = p.priority AND j.run_at > coalesce(:now::timestamptz, now()) AND NOT j.running AND j.losses < 2
    ORDER BY j.run_at, j.id LIMIT 1
) AS later
