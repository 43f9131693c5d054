-- statement deleteNewJobs, takes ids, returns deleted
-- Deletes jobs that the same transaction has inserted and that no other has seen, and
-- returns how many these were.
WITH gone AS (
    DELETE FROM {schema}.job WHERE id = ANY (:ids::bigint[]) RETURNING id
)
SELECT count(*) AS deleted FROM gone
