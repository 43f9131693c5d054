-- statement findNextDue, takes now queue limited, returns next_due pauses last queue handled limit_revision not_before gated suspects
-- The earliest run_at after now among the ready jobs of a queue, without suspects, unless the
-- queue is paused, or the earliest end of a pause after now if that is earlier; how many pauses
-- there are, also pauses that have ended, when the last of them began, whether the queue is paused, whether there are handlers of
-- starts, the newest revision of the limits of the whole queue :limited, until when a worker has asked that nothing of
-- that queue starts, and whether claims have to pass gates: because limits of kinds or keys concern the queue, or a pause has ended;
-- and whether a claim of suspects may find a job: see findSuspect.
SELECT least(p.first_end, CASE WHEN NOT p.queue THEN (
        SELECT min(later.run_at)
        FROM generate_series(1, 9) AS m (priority), LATERAL (
            SELECT j.run_at FROM {schema}.job AS j
            WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND j.run_at > coalesce(:now::timestamptz, now()) AND NOT j.running AND j.losses < 2
            ORDER BY j.run_at, j.id LIMIT 1
        ) AS later
    ) END) AS next_due,
    p.pauses, p.last, p.queue, EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0) AS handled,
    w.limit_revision, w.not_before, l.permits OR p.ended AS gated,
    EXISTS (
        SELECT FROM {schema}.job AS s
        WHERE s.state = 0 AND s.losses >= 2 AND s.queue = :queue::text AND NOT s.running AND s.run_at <= coalesce(:now::timestamptz, now())
    ) AS suspects
FROM (
    SELECT count(*) AS pauses, max(paused_at) AS last, min(until) FILTER (WHERE until > coalesce(:now::timestamptz, now())) AS first_end,
        coalesce(bool_or(until <= coalesce(:now::timestamptz, now())), false) AS ended,
        coalesce(bool_or(subject = 1 AND {in_queue(:queue::text, name)} AND coalesce(until > coalesce(:now::timestamptz, now()), true)), false) AS queue
    FROM {schema}.pause
) AS p, (
    SELECT coalesce(max(l.revision), 0) AS limit_revision, max(n.not_before) FILTER (WHERE n.not_before > coalesce(:now::timestamptz, now())) AS not_before
    FROM {schema}.job_limit AS l LEFT JOIN {schema}.lane AS n ON n.limit_id = l.id AND n.key = ''
    WHERE l.queue = :limited::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL
) AS w, (
    SELECT EXISTS (SELECT FROM {schema}.job_limit AS t
        WHERE (t.by_key OR t.kind <> '') AND (t.queue = '' OR {in_queue(:queue::text, t.queue)})) AS permits
) AS l
