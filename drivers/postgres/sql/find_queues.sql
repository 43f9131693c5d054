-- statement findQueues, takes ids, returns queue
-- The queues of jobs.
SELECT DISTINCT queue FROM {schema}.job WHERE id = ANY (:ids::bigint[])
