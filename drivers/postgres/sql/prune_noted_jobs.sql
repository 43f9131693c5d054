-- statement pruneNotedJobs, takes now keep ids failed, returns deleted
-- Deletes jobs, with their attempts, that a batch has recorded and that are old: either
-- failed jobs or other jobs. A job may have been revived since, and ended again. A job that
-- has to stay (see prune_jobs) is deleted by prune_jobs later.
WITH old AS MATERIALIZED (
    SELECT h.id, {deletable(h)} AS free
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
), steps AS (
    DELETE FROM {schema}.step WHERE job_id IN (SELECT id FROM gone)
)
SELECT count(*) AS deleted FROM gone
