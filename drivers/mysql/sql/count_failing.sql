-- statement CountFailing
-- Records how many jobs in a row failed, of schedules that are failing.
UPDATE JSON_TABLE(:failing, '$[*]' COLUMNS (id BIGINT PATH '$.id', failures BIGINT PATH '$.failures')) AS o
STRAIGHT_JOIN hourbell_failing AS f FORCE INDEX (PRIMARY) ON f.schedule_id = o.id
SET f.failures = o.failures
