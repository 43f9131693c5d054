-- statement deleteOutput, takes ids
-- Deletes the stored output of attempts that end. Their jobs are locked.
DELETE FROM {schema}.output WHERE job_id = ANY (:ids::bigint[])
