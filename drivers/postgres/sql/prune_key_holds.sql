-- statement pruneKeyHolds, takes now limit, returns deleted
-- Deletes holds of keys that have expired.
WITH gone AS (
    DELETE FROM {schema}.key_hold
    WHERE ctid = ANY (ARRAY(
        SELECT u.ctid FROM {schema}.key_hold AS u WHERE u.until <= coalesce(:now::timestamptz, now())
        ORDER BY u.until LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING job_id
)
SELECT count(*) AS deleted FROM gone
