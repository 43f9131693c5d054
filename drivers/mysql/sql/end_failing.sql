-- statement EndFailing
-- Records that schedules are well.
DELETE f FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o STRAIGHT_JOIN hourbell_failing AS f FORCE INDEX (PRIMARY) ON f.schedule_id = o.id
