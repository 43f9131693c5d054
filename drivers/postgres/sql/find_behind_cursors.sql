-- The first job behind each low-water cursor that claim_jobs would take, if there is one.
-- Reads jobs with a run_at after $5 only. Locks nothing.
SELECT m.priority, due.run_at, due.id
FROM unnest($3::timestamptz[], $4::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
    SELECT j.run_at, j.id FROM {schema}.job AS j
    WHERE j.state = 0 AND j.queue = $1::text AND j.priority = m.priority AND (j.run_at, j.id) <= (m.run_at, m.id)
        AND j.run_at > $5::timestamptz AND j.run_at <= now()
        AND NOT j.running AND (j.kind = ANY ($2::text[])
            OR j.kind = ANY ($6::text[])                                                                           -- if exact
                AND (j.kind, sha256(convert_to(j.args, 'UTF8'))) IN (                                              -- if exact
                    SELECT e.kind, e.digest FROM unnest($7::text[], $8::bytea[]) AS e (kind, digest))             -- if exact
        )
        AND j.losses < 2
    ORDER BY j.run_at, j.id LIMIT 1
) AS due
