-- statement lockSchedules, takes names owner, returns scheduleColumns
-- Locks schedules by name, deleted schedules too, and the schedules of an owner that are
-- not deleted unless :owner is null, in the order of their numbers.
SELECT {schedule_columns},
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id) AS failures
FROM {schema}.schedule
WHERE id = ANY (ARRAY(
    SELECT id FROM {schema}.schedule WHERE name = ANY (:names::text[])
    UNION
    SELECT id FROM {schema}.schedule WHERE owner = :owner::text AND deleted_at IS NULL))
ORDER BY id
FOR UPDATE
