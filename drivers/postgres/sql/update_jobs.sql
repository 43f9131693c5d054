-- statement updateJobs, takes now ids queue priority
-- Gives jobs, which are locked and do not run, another queue or priority. Those that are due
-- are due from now on: claims begin at a position in the order of their queue and priority,
-- and a job with an old run_at would be behind it. They give permits back by a row in vacancy.
WITH vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM {schema}.job AS j, unnest(j.permits) AS p (lane)
    WHERE EXISTS (SELECT FROM {schema}.job_limit) AND j.id = ANY (:ids::bigint[]) HAVING count(*) > 0
)
UPDATE {schema}.job SET state = greatest(state, 0), lane = NULL, permits = NULL, queue = coalesce(:queue::text, queue), priority = coalesce(:priority::smallint, priority),
    run_at = greatest(run_at, coalesce(:now::timestamptz, now()))
WHERE id = ANY (:ids::bigint[])
