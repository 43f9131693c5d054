-- Locks the jobs of schedules that are ready or running, in the order of their
-- numbers.
SELECT id FROM {schema}.job WHERE schedule_id = ANY (:schedules::bigint[]) AND state + 0 = 0 ORDER BY id + 0 FOR UPDATE
