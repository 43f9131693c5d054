-- Gives jobs, which are locked and do not run, another queue or priority. Those that are due
-- are due from now on: claims begin at a position in the order of their queue and priority,
-- and a job with an old run_at would be behind it.
UPDATE {schema}.job SET state = greatest(state, 0), queue = coalesce(:queue::text, queue), priority = coalesce(:priority::smallint, priority),
    run_at = greatest(run_at, coalesce(:now::timestamptz, now()))
WHERE id = ANY (:ids::bigint[])
