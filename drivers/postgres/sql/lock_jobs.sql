-- statement lockJobs, takes ids now, returns id node running waiting later
-- Locks live jobs, in the order of their numbers.
SELECT id, node, running, state = 1 AS waiting, run_at > coalesce(:now::timestamptz, now()) AS later FROM {schema}.job WHERE id = ANY (:ids::bigint[]) ORDER BY id FOR UPDATE
