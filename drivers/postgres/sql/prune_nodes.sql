-- statement pruneNodes, takes now keep limit, returns deleted seen
-- Deletes nodes that ended long ago and hold no jobs.
WITH gone AS (
    DELETE FROM {schema}.node
    WHERE id = ANY (ARRAY(
        SELECT id FROM {schema}.node
        WHERE ended_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond' AND look_at IS NULL
        ORDER BY id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
