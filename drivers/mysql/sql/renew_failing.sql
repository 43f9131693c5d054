-- Records that schedules, whose rows are locked, are failing again after they were well.
UPDATE JSON_TABLE(:failing, '$[*]' COLUMNS (id BIGINT PATH '$.id', failures BIGINT PATH '$.failures')) AS o
STRAIGHT_JOIN hourbell_failing AS f FORCE INDEX (PRIMARY) ON f.schedule_id = o.id
SET f.since = {at(:now)}, f.failures = o.failures
