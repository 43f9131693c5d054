-- Locks schedules by name, and the living ones of an owner if :owner is not null,
-- in the order of their numbers.
SELECT {schedule_columns},
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id) AS failures
FROM {schema}.schedule
WHERE id = ANY (ARRAY(
    SELECT id FROM {schema}.schedule WHERE name = ANY (:names::text[])
    UNION
    SELECT id FROM {schema}.schedule WHERE owner = :owner::text AND deleted_at IS NULL))
ORDER BY id
FOR UPDATE
