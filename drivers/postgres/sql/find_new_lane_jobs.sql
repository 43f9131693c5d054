-- statement findNewExactLaneJobs, given window exact, takes now queue kinds low_run_ats low_ids suspects scan limit exact_kinds exact_jobs exact_digests, returns id priority run_at
-- statement findNewLaneJobs, given window, takes now queue kinds low_run_ats low_ids suspects scan limit, returns id priority run_at
-- statement findExactOvertakers, given overtaking exact, takes now queue kinds low_run_ats low_ids suspects limit exact_kinds exact_jobs exact_digests, returns id priority run_at
-- statement findOvertakers, given overtaking, takes now queue kinds low_run_ats low_ids suspects limit, returns id priority run_at
-- Due ready jobs of a queue that limits concern, that hold no permits, and that a claim may take, in the order of claims. It reads
-- the first :scan jobs of each priority that no node has claimed, because what lies behind them is not needed yet. Or the first of these
-- jobs, however many come before them, in whose lanes no job waits. Locks nothing.
SELECT due.id, m.priority::smallint AS priority, due.run_at
FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
    SELECT s.id, s.run_at FROM (
        SELECT j.id, j.run_at, j.permits, j.queue, j.kind, j.job_key FROM {schema}.job AS j
        WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) > (m.run_at, m.id)
            AND j.run_at <= coalesce(:now::timestamptz, now())
            AND NOT j.running AND (j.kind = ANY (:kinds::text[])
                OR j.kind = ANY (:exact_kinds::text[])                                                                   -- if exact
                    AND (j.kind, sha256(convert_to(j.args, 'UTF8'))) IN (                                      -- if exact
                        SELECT e.kind, e.digest FROM unnest(:exact_jobs::text[], :exact_digests::bytea[]) AS e (kind, digest))    -- if exact
            )
            AND (j.losses >= 2) = :suspects::boolean
            AND j.kind <> ALL (ARRAY(SELECT p.name FROM {schema}.pause AS p
                WHERE p.subject = 2 AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
            AND (j.group_name IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
                WHERE p.subject = 0 AND p.name = j.group_name AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
            AND (j.job_key IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
                WHERE p.subject = 3 AND p.name = j.job_key AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
        ORDER BY j.run_at, j.id LIMIT :scan::bigint                                                                -- if window
    ) AS s
    WHERE s.permits IS NULL AND EXISTS (SELECT FROM {schema}.job_limit AS t
        WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, s)})
        AND NOT EXISTS (SELECT FROM {schema}.job_limit AS t, {schema}.lane AS l                                    -- if overtaking
            WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, s)}   -- if overtaking
                AND l.limit_id = t.id AND l.key = CASE WHEN t.by_key THEN s.job_key ELSE '' END AND l.waiting)     -- if overtaking
    ORDER BY s.run_at, s.id LIMIT :limit::bigint                                                                   -- if overtaking
) AS due
ORDER BY m.priority, due.run_at, due.id LIMIT :limit::bigint
