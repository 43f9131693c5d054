-- statement lockDueJobs, given plain, takes now queue kinds low_run_ats low_ids due_for limit most fresh exact_kinds exact_jobs exact_digests, returns id priority run_at
-- statement lockSuspects, given suspects, takes now queue kinds low_run_ats low_ids due_for limit most fresh exact_kinds exact_jobs exact_digests, returns id priority run_at
-- Locks jobs that a claim may take: that have been due for :due_for microseconds, and that need no permits, hold them, or are
-- among :fresh; up to :limit of each priority, and :most in all. They are returned in the order of claims. Jobs that other transactions
-- have locked are left out.
SELECT due.id, m.priority::smallint AS priority, due.run_at
FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
    SELECT j.id, j.run_at FROM {schema}.job AS j
    WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) > (m.run_at, m.id)
        AND j.run_at <= coalesce(:now::timestamptz, now()) - :due_for::bigint * interval '1 microsecond' AND {claimable(j)}
        AND j.losses < 2                                                                                           -- if plain
        AND j.losses >= 2                                                                                          -- if suspects
        AND (j.permits IS NOT NULL OR j.id IN (SELECT unnest(:fresh::bigint[])) OR NOT EXISTS (SELECT FROM {schema}.job_limit AS t
            WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, j)}))
    ORDER BY j.run_at, j.id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
) AS due
LIMIT :most::bigint
