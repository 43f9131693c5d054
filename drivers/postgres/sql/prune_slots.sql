-- Deletes the oldest records of slots.
WITH gone AS (
    DELETE FROM {schema}.slot
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {schema}.slot
        WHERE recorded_at < coalesce($1::timestamptz, now()) - $2::bigint * interval '1 microsecond'
        ORDER BY recorded_at, id LIMIT $3::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT count(*), count(*) FROM gone
