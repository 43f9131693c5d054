-- statement pruneSlots, takes now keep limit, returns deleted seen
-- Deletes the oldest records of slots.
WITH gone AS (
    DELETE FROM {schema}.slot
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {schema}.slot
        WHERE recorded_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
        ORDER BY recorded_at, id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
