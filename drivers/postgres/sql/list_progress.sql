-- statement listProgress, takes ids, returns job_id token done total note at stuck
-- The progress of jobs.
SELECT job_id, token, done, total, note, at, stuck FROM {schema}.progress WHERE job_id = ANY (:ids::bigint[])
