-- statement pruneChainEnds, takes now keep limit, returns deleted seen
-- Deletes the oldest ends for which dependents have accounted.
WITH gone AS (
    DELETE FROM {schema}.chain_end
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {schema}.chain_end
        WHERE slot < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond' AND NOT open
        ORDER BY slot LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING schedule_id
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
