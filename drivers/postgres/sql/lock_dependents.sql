-- statement lockDependents, given waiting, takes ids, returns id waits run_at
-- statement lockFreeDependents, given free, takes ids, returns id waits run_at
-- Locks jobs that wait for jobs, in the order of their numbers.
SELECT id, waits, run_at FROM {schema}.job WHERE id = ANY (:ids::bigint[]) AND state + 0 = 1 AND waits IS NOT NULL ORDER BY id
FOR UPDATE              -- if waiting
FOR UPDATE SKIP LOCKED  -- if free
