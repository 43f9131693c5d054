-- statement ResetFailures
-- Counts the failures of schedules from 0 again.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_failing AS f FORCE INDEX (PRIMARY) ON f.schedule_id = o.id
SET f.failures = 0
