-- statement FindDueSchedulesNamed, returns ScheduleColumns
-- The named schedules that are due, earliest first.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule
WHERE name IN (SELECT value FROM json_each(:names)) AND next_at <= :now
ORDER BY next_at, id
LIMIT +:limit
