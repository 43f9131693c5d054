-- The living jobs of each queue, counted.
SELECT queue,
    count(*) FILTER (WHERE state = 0 AND NOT running AND run_at <= now()),
    count(*) FILTER (WHERE state = 0 AND NOT running AND run_at > now()),
    count(*) FILTER (WHERE running),
    count(*) FILTER (WHERE state = 1)
FROM {schema}.job GROUP BY queue ORDER BY queue
