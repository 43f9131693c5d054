-- statement findBehindCursors, takes now queue kinds low_run_ats low_ids since exact_kinds exact_jobs exact_digests, returns priority run_at id
-- The first job behind each low-water cursor that claim_jobs would take, if there is one.
-- Reads jobs with a run_at after :since only. Locks nothing.
SELECT m.priority, due.run_at, due.id
FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
    SELECT j.run_at, j.id FROM {schema}.job AS j
    WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) <= (m.run_at, m.id)
        AND j.run_at > :since::timestamptz AND j.run_at <= coalesce(:now::timestamptz, now()) AND {claimable(j)} AND j.losses < 2
    ORDER BY j.run_at, j.id LIMIT 1
) AS due
