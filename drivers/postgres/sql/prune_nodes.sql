-- Deletes nodes that ended long ago.
WITH gone AS (
    DELETE FROM {schema}.node
    WHERE id = ANY (ARRAY(
        SELECT id FROM {schema}.node
        WHERE ended_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
        ORDER BY id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
