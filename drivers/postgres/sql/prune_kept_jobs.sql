-- Deletes finished jobs with a retention of their own that have been kept long enough, with
-- their attempts. Jobs that hold their keys stay.
WITH gone AS (
    DELETE FROM {schema}.history
    WHERE id = ANY (ARRAY(
        SELECT h.id FROM {schema}.history AS h
        WHERE h.keep_until < coalesce(:now::timestamptz, now())
            AND NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = h.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0)
        ORDER BY h.keep_until, h.id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id IN (SELECT id FROM gone)
), edges AS (
    DELETE FROM {schema}.edge WHERE job_id IN (SELECT id FROM gone)
), progress AS (
    DELETE FROM {schema}.progress WHERE job_id IN (SELECT id FROM gone)
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
