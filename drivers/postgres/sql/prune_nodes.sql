-- Deletes nodes that have ended.
WITH gone AS (
    DELETE FROM {schema}.node
    WHERE id = ANY (ARRAY(
        SELECT id FROM {schema}.node
        WHERE ended_at < coalesce($1::timestamptz, now()) - $2::bigint * interval '1 microsecond'
        ORDER BY id LIMIT $3::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT count(*), count(*) FROM gone
