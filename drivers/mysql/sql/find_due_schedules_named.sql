-- statement FindDueSchedulesNamed, returns ScheduleColumns
-- The named schedules that are due, earliest first.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule FORCE INDEX (hourbell_schedule_name)
WHERE name IN (:names) AND next_at <= {at(:now)}
ORDER BY hourbell_schedule.next_at, id
LIMIT :limit
{share}
