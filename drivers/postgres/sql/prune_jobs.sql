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
                AND NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = h.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0)
                AND NOT (h.batch IS NOT NULL AND EXISTS (SELECT FROM {schema}.job AS b WHERE b.batch = h.batch OFFSET 0))
                AND NOT (h.releases AND EXISTS (SELECT FROM {schema}.edge AS e, LATERAL (SELECT FROM {schema}.job AS d WHERE d.id = ANY (ARRAY[e.job_id]) OFFSET 0) AS d WHERE e.on_id = h.id OFFSET 0))
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
)
SELECT count(*) AS deleted, count(*) AS seen FROM gone
