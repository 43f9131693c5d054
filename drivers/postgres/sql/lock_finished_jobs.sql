-- statement lockFinishedJobs, takes ids, returns id
-- Locks finished jobs in the order of their numbers.
SELECT id FROM {schema}.history WHERE id = ANY (:ids::bigint[]) ORDER BY id FOR UPDATE
