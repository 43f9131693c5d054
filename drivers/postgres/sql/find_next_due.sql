-- The earliest run_at after now among the ready jobs of a queue, without suspects, or the
-- earliest end of a pause after now if that is earlier; and whether there are pauses,
-- pauses that have ended, and handlers of starts.
SELECT least(min(later.run_at), (SELECT min(p.until) FROM {schema}.pause AS p WHERE p.until > coalesce(:now::timestamptz, now()))) AS next_due,
    EXISTS (SELECT FROM {schema}.pause) AS pauses,
    EXISTS (SELECT FROM {schema}.pause AS p WHERE p.until <= coalesce(:now::timestamptz, now())) AS ended,
    EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0) AS handled
FROM generate_series(1, 9) AS p (priority), LATERAL (
    SELECT j.run_at FROM {schema}.job AS j
    WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = p.priority AND j.run_at > coalesce(:now::timestamptz, now()) AND NOT j.running AND j.losses < 2
    ORDER BY j.run_at, j.id LIMIT 1
) AS later
