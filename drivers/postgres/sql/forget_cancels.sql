-- Removes the cancel requests of those of these jobs that have ended. There are
-- none mostly, which is seen at once.
DELETE FROM {schema}.cancel_request AS c
WHERE EXISTS (SELECT FROM {schema}.cancel_request)
    AND c.job_id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.id = c.job_id)
