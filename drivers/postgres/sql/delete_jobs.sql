-- statement deleteJobs, takes now ids, returns schedule_id backfill
-- Deletes jobs, which are locked, with their attempts and the holds of their keys, and
-- returns the schedules of the
-- jobs that were live. The dependents of these learn that the job was deleted.
WITH living AS (
    DELETE FROM {schema}.job WHERE id = ANY (:ids::bigint[]) RETURNING id, schedule_id, origin, releases, permits
), released AS (
    INSERT INTO {schema}.release (ids, schedules, ended_at, states, reasons)
    SELECT array_agg(id), array_agg(CASE WHEN origin {sets_off} THEN schedule_id END), coalesce(:now::timestamptz, now()), array_agg(7::smallint), array_agg(''::text) FROM living WHERE releases HAVING count(*) > 0
), vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM living, unnest(permits) AS p (lane) WHERE EXISTS (SELECT FROM {schema}.job_limit) HAVING count(*) > 0
), edges AS (
    DELETE FROM {schema}.edge WHERE job_id = ANY (:ids::bigint[])
), finished AS (
    DELETE FROM {schema}.history WHERE id = ANY (:ids::bigint[])
), holds AS (
    DELETE FROM {schema}.key_hold WHERE job_id = ANY (:ids::bigint[])
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id = ANY (:ids::bigint[])
), progress AS (
    DELETE FROM {schema}.progress WHERE job_id = ANY (:ids::bigint[])
), steps AS (
    DELETE FROM {schema}.step WHERE job_id = ANY (:ids::bigint[])
)
SELECT schedule_id, origin {backfill} AS backfill FROM living
