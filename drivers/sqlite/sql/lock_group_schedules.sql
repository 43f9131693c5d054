-- shared statement lockGroupSchedules, returns ScheduleColumns
-- The schedules of a group that are not deleted.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule WHERE group_name = :group_name AND deleted_at IS NULL
ORDER BY id
