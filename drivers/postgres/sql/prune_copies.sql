-- statement pruneCopies, takes now keep limit, returns deleted seen
-- Deletes old copies of hosts without a known node.
WITH gone AS (
    DELETE FROM {schema}.copy
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {schema}.copy AS c
        WHERE c.changed_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
            AND NOT EXISTS (SELECT FROM {schema}.node AS n WHERE n.host = c.host)
        LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING owner
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
