-- Removes the cancel requests of these jobs if the jobs have ended. Usually there are no
-- cancel requests, which is found at once.
DELETE FROM {schema}.cancel_request AS c
WHERE EXISTS (SELECT FROM {schema}.cancel_request)
    AND c.job_id = ANY (:ids::bigint[]) AND NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.id = c.job_id)
