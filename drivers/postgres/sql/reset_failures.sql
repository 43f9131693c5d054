-- statement resetFailures, takes ids
-- Counts the failures of schedules from 0 again. The schedules are locked.
UPDATE {schema}.failing SET failures = 0
WHERE schedule_id = ANY (ARRAY(SELECT schedule_id FROM {schema}.failing WHERE schedule_id = ANY (:ids::bigint[]) ORDER BY schedule_id FOR UPDATE))
