-- statement findSharedJobs, takes ids, returns id running node
-- Live jobs that a caller's transaction must not lock: running jobs and jobs of schedules.
-- They are not locked.
SELECT id, running, coalesce(node, 0) AS node FROM {schema}.job WHERE id = ANY (:ids::bigint[]) AND (running OR schedule_id IS NOT NULL)
