-- shared statement lockGroupSchedules, returns ScheduleColumns
-- Locks the schedules of a group that are not deleted.
SELECT {schedule_columns},
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule FORCE INDEX (hourbell_schedule_group)
WHERE group_name = :group_name AND hourbell_schedule.deleted_at IS NULL
ORDER BY id
FOR UPDATE
