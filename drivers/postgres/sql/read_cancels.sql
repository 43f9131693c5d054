-- statement readCancels, takes ids, returns job_id reason
-- The cancel requests for locked jobs.
SELECT job_id, reason FROM {schema}.cancel_request WHERE job_id = ANY (:ids::bigint[])
