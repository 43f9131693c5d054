-- statement lockGroupSchedules, takes group_name, returns scheduleColumns
-- Locks the schedules of a group that are not deleted, in the order of their numbers.
SELECT {schedule_columns},
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id) AS failures
FROM {schema}.schedule
WHERE group_name = :group_name::text AND deleted_at IS NULL
ORDER BY id
FOR UPDATE
