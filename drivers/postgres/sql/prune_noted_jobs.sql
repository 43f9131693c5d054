-- Deletes jobs, with their attempts, that a batch has recorded and that are old: either
-- failed jobs or other jobs. A job may have been revived since, and ended again. A job that
-- has to stay (see prune_jobs) is deleted by prune_jobs later.
WITH old AS MATERIALIZED (
    SELECT h.id, NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = h.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0)
        AND NOT (h.batch IS NOT NULL AND EXISTS (SELECT FROM {schema}.job AS b WHERE b.batch = h.batch OFFSET 0))
        AND NOT (h.releases AND EXISTS (SELECT FROM {schema}.edge AS e, LATERAL (SELECT FROM {schema}.job AS d WHERE d.id = ANY (ARRAY[e.job_id]) OFFSET 0) AS d WHERE e.on_id = h.id OFFSET 0)) AS free
    FROM {schema}.history AS h
    WHERE h.id = ANY (:ids::bigint[]) AND h.noted AND h.keep_until IS NULL AND (h.state = 4) = :failed::boolean
        AND h.finished_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
), gone AS (
    DELETE FROM {schema}.history WHERE id = ANY (ARRAY(SELECT id FROM old WHERE free)) AND noted
    RETURNING id
), later AS (
    UPDATE {schema}.history SET noted = false WHERE id = ANY (ARRAY(SELECT id FROM old WHERE NOT free))
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id IN (SELECT id FROM gone)
), edges AS (
    DELETE FROM {schema}.edge WHERE job_id IN (SELECT id FROM gone)
), progress AS (
    DELETE FROM {schema}.progress WHERE job_id IN (SELECT id FROM gone)
)
SELECT count(*) AS deleted FROM gone
