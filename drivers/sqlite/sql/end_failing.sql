-- statement EndFailing
-- Records that schedules are well.
DELETE FROM hourbell_failing WHERE schedule_id IN (SELECT value FROM json_each(:ids))
