-- statement pruneAudit, takes now keep limit, returns deleted seen
-- Deletes the oldest entries of the audit, with their subjects.
WITH gone AS (
    DELETE FROM {schema}.audit
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {schema}.audit
        WHERE at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
        ORDER BY at, id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
), subjects AS (
    DELETE FROM {schema}.audit_subject WHERE entry_id = ANY (ARRAY(SELECT id FROM gone))
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
