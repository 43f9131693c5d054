-- Deletes the oldest finished jobs of some states, with their attempts.
WITH gone AS (
    DELETE FROM {schema}.history
    WHERE id = ANY (ARRAY(
        SELECT old.id
        FROM unnest($2::smallint[]) AS s (state), LATERAL (
            SELECT h.id, h.finished_at FROM {schema}.history AS h
            WHERE h.state = s.state AND h.finished_at < coalesce($1::timestamptz, now()) - $3::bigint * interval '1 microsecond'
            ORDER BY h.finished_at, h.id LIMIT $4::bigint FOR UPDATE SKIP LOCKED
        ) AS old
        ORDER BY old.finished_at, old.id LIMIT $4::bigint))
    RETURNING id
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id IN (SELECT id FROM gone)
)
SELECT count(*) FROM gone
