-- statement pruneBatches, takes now keep limit, returns deleted
-- Deletes batches whose jobs are gone, the oldest first.
WITH gone AS (
    DELETE FROM {schema}.batch WHERE id = ANY (ARRAY(
        SELECT b.id FROM {schema}.batch AS b
        WHERE b.created_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
            AND NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.batch = b.id OFFSET 0)
            AND NOT EXISTS (SELECT FROM {schema}.history AS h WHERE h.batch = b.id OFFSET 0)
        ORDER BY b.id LIMIT :limit::bigint))
    RETURNING id
)
SELECT count(*) AS deleted FROM gone
