-- statement findNewLaneJobs, given window, takes now queue kinds low_run_ats low_ids suspects scan limit exact_kinds exact_jobs exact_digests, returns id
-- statement findOvertakers, given overtaking, takes now queue kinds low_run_ats low_ids suspects limit exact_kinds exact_jobs exact_digests, returns id
-- Due ready jobs of a queue that limits concern, that hold no permits, and that a claim may take, in the order of claims. It reads
-- the first :scan jobs of each priority that no node has claimed, because what lies behind them is not needed yet. Or the first of these
-- jobs, however many come before them, in whose lanes no job waits. Locks nothing.
SELECT due.id
FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
    SELECT s.id FROM (
        SELECT j.id, j.run_at, j.permits, j.queue, j.kind, j.job_key FROM {schema}.job AS j
        WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) > (m.run_at, m.id)
            AND j.run_at <= coalesce(:now::timestamptz, now()) AND {claimable(j)} AND (j.losses >= 2) = :suspects::boolean
        ORDER BY j.run_at, j.id LIMIT :scan::bigint                                                                -- if window
    ) AS s
    WHERE s.permits IS NULL AND EXISTS (SELECT FROM {schema}.job_limit AS t
        WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, s)})
        AND NOT EXISTS (SELECT FROM {schema}.job_limit AS t, {schema}.lane AS l                                    -- if overtaking
            WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, s)}   -- if overtaking
                AND l.limit_id = t.id AND l.key = CASE WHEN t.by_key THEN s.job_key ELSE '' END AND l.waiting)     -- if overtaking
    ORDER BY s.run_at, s.id LIMIT :limit::bigint                                                                   -- if overtaking
) AS due
LIMIT :limit::bigint
