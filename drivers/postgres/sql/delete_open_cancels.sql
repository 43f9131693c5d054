-- statement deleteOpenCancels, takes ids, returns job_id reason
-- Deletes cancel requests that no run will answer, and returns them. The jobs are locked.
DELETE FROM {schema}.cancel_request AS c
WHERE c.job_id = ANY (:ids::bigint[])
    AND NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.id = c.job_id AND j.running AND j.node = c.node)
RETURNING c.job_id, c.reason
