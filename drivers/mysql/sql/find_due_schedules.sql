-- statement FindDueSchedules, returns ScheduleColumns
-- Schedules that are due by :soon, earliest first, after a schedule of the page before.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule
WHERE next_at <= {at(:soon)} AND next_at >= coalesce({at(:after_at)}, '1000-01-01') AND (next_at > coalesce({at(:after_at)}, '1000-01-01') OR id > :after_id)
ORDER BY hourbell_schedule.next_at, id
LIMIT :limit
