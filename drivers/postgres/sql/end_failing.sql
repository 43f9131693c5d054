-- statement endFailing, takes ids
-- Records that schedules are well. Their rows are locked here or by the caller.
DELETE FROM {schema}.failing
WHERE schedule_id = ANY (ARRAY(SELECT schedule_id FROM {schema}.failing WHERE schedule_id = ANY (:ids::bigint[]) ORDER BY schedule_id FOR UPDATE))
