-- statement pruneJobs, takes now keep limit failed, returns deleted seen
-- Deletes the oldest finished jobs that no batch has recorded, with their attempts: either
-- failed jobs and jobs that were not started, or other jobs. Jobs that hold their keys stay, and
-- jobs of a batch that has live jobs, and predecessors of live jobs.
WITH gone AS (
    DELETE FROM {schema}.history
    WHERE id = ANY (ARRAY(
        SELECT old.id
        FROM unnest(CASE WHEN :failed::boolean THEN '{4,6}' ELSE '{3,5}' END::smallint[]) AS s (state), LATERAL (
            SELECT h.id, h.finished_at FROM {schema}.history AS h
            WHERE NOT h.noted AND h.state = s.state AND h.finished_at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
                AND {deletable(h)}
            ORDER BY h.finished_at, h.id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
        ) AS old
        ORDER BY old.finished_at, old.id LIMIT :limit::bigint))
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
