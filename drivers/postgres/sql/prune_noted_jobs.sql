-- Deletes jobs, with their attempts, that a batch has recorded and that are old: either
-- failed jobs or other jobs. A job may have been revived since, and ended again.
WITH gone AS (
    DELETE FROM {schema}.history
    WHERE id = ANY (:ids::bigint[]) AND noted AND (state = 4) = :failed::boolean
        AND finished_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
    RETURNING id
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id IN (SELECT id FROM gone)
)
SELECT count(*) AS deleted FROM gone
