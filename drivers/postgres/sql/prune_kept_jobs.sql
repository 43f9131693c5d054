-- statement pruneKeptJobs, takes now limit, returns deleted seen
-- Deletes finished jobs with a retention of their own that have been kept long enough, with
-- their attempts. Jobs stay for the reasons for which they stay in prune_jobs.
WITH gone AS (
    DELETE FROM {schema}.history
    WHERE id = ANY (ARRAY(
        SELECT h.id FROM {schema}.history AS h
        WHERE h.keep_until < coalesce(:now::timestamptz, now())
            AND {deletable(h)}
        ORDER BY h.keep_until, h.id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id IN (SELECT id FROM gone)
), edges AS (
    DELETE FROM {schema}.edge WHERE job_id IN (SELECT id FROM gone)
), progress AS (
    DELETE FROM {schema}.progress WHERE job_id IN (SELECT id FROM gone)
), steps AS (
    DELETE FROM {schema}.step WHERE job_id IN (SELECT id FROM gone)
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
