-- statement deleteCancels, takes ids
-- Deletes the cancel requests of jobs that have ended. Usually the table is empty, which
-- the first condition finds at once.
DELETE FROM {schema}.cancel_request AS c
WHERE EXISTS (SELECT FROM {schema}.cancel_request)
    AND c.job_id = ANY (:ids::bigint[]) AND NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.id = c.job_id)
