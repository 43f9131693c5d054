-- statement LockSchedules, returns ScheduleColumns
-- Schedules by name, deleted schedules too.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule WHERE name IN (SELECT value FROM json_each(:names))
