-- statement findDueJobs, takes now queue kinds low_run_ats low_ids due_for exact_kinds exact_jobs exact_digests, returns found
-- Reports whether a job that a claim may take has been due for :due_for microseconds. It does not look at limits. Locks nothing.
SELECT EXISTS (
    SELECT FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
        SELECT FROM {schema}.job AS j
        WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) > (m.run_at, m.id)
            AND j.run_at <= coalesce(:now::timestamptz, now()) - :due_for::bigint * interval '1 microsecond' AND {claimable(j)} AND j.losses < 2
        ORDER BY j.run_at, j.id LIMIT 1
    ) AS due
) AS found
