-- statement lockSerialGroupJobs, takes schedules, returns id
-- Locks the ready and running jobs of schedules, in the order of their numbers.
SELECT id FROM {schema}.job WHERE schedule_id = ANY (:schedules::bigint[]) AND state + 0 <= 0 ORDER BY id + 0 FOR UPDATE
