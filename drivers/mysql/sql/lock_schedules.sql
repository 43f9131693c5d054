-- statement LockSchedules, returns ScheduleColumns
-- Locks schedules by name, deleted schedules too.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule FORCE INDEX (hourbell_schedule_name)
WHERE name IN (:names)
FOR UPDATE
