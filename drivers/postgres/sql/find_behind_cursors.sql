-- statement findBehindCursors, takes queue kinds low_run_ats low_ids since, returns priority run_at id
-- statement findExactBehindCursors, given exact, takes queue kinds low_run_ats low_ids since exact_kinds exact_jobs exact_digests, returns priority run_at id
-- The first job behind each low-water cursor that claim_jobs would take, if there is one.
-- Reads jobs with a run_at after :since only. Locks nothing.
SELECT m.priority, due.run_at, due.id
FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
    SELECT j.run_at, j.id FROM {schema}.job AS j
    WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) <= (m.run_at, m.id)
        AND j.run_at > :since::timestamptz AND j.run_at <= now()
        AND NOT j.running AND (j.kind = ANY (:kinds::text[])
            OR j.kind = ANY (:exact_kinds::text[])                                                                           -- if exact
                AND (j.kind, sha256(convert_to(j.args, 'UTF8'))) IN (                                              -- if exact
                    SELECT e.kind, e.digest FROM unnest(:exact_jobs::text[], :exact_digests::bytea[]) AS e (kind, digest))             -- if exact
        )
        AND j.losses < 2
        AND j.kind <> ALL (ARRAY(SELECT p.name FROM {schema}.pause AS p WHERE p.subject = 2 AND coalesce(p.until > now(), true)))
        AND (j.group_name IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
            WHERE p.subject = 0 AND p.name = j.group_name AND coalesce(p.until > now(), true)))
        AND (j.job_key IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
            WHERE p.subject = 3 AND p.name = j.job_key AND coalesce(p.until > now(), true)))
    ORDER BY j.run_at, j.id LIMIT 1
) AS due
