-- shared statement beginFailing
-- Records that schedules are failing from now on. The row of a schedule that another transaction has recorded does not change.
INSERT IGNORE INTO hourbell_failing (schedule_id, since, failures)
SELECT o.id, {at(:now)}, o.failures
FROM JSON_TABLE(:failing, '$[*]' COLUMNS (id BIGINT PATH '$.id', failures BIGINT PATH '$.failures')) AS o
