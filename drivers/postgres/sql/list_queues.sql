-- The live jobs of each queue, counted.
SELECT queue,
    count(*) FILTER (WHERE state <= 0 AND NOT running AND run_at <= coalesce(:now::timestamptz, now())) AS ready,
    count(*) FILTER (WHERE state <= 0 AND NOT running AND run_at > coalesce(:now::timestamptz, now())) AS scheduled,
    count(*) FILTER (WHERE running) AS running,
    count(*) FILTER (WHERE state = 1) AS waiting,
    min(run_at) FILTER (WHERE state <= 0 AND NOT running AND run_at <= coalesce(:now::timestamptz, now())) AS oldest
FROM {schema}.job GROUP BY queue ORDER BY queue
