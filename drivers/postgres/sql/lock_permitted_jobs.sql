-- statement lockPermittedJobs, takes queue kind by_key after_id limit, returns id permits
-- Locks unclaimed jobs, also parked jobs, that hold permits and that a limit concerns, with numbers greater than :after_id. Jobs that other transactions
-- have locked are left out.
SELECT j.id, j.permits FROM {schema}.job AS j
WHERE j.permits IS NOT NULL AND j.id > :after_id::bigint AND j.state IN (0, -1) AND NOT j.running AND {in_scope(:queue::text, :kind::text, :by_key::boolean, j)}
ORDER BY j.id LIMIT :limit::bigint
FOR UPDATE SKIP LOCKED
