-- statement FindDueSchedules, returns ScheduleColumns
-- Schedules that are due by :soon, earliest first, after a schedule of the page before.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule
WHERE next_at <= :soon AND (next_at, id) > (coalesce(:after_at, -9223372036854775808), :after_id)
ORDER BY next_at, id
LIMIT +:limit
