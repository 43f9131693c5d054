-- Locks schedules by name, and the living ones of an owner if $2 is not null,
-- in the order of their numbers.
SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at,
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id)
FROM {schema}.schedule
WHERE id = ANY (ARRAY(
    SELECT id FROM {schema}.schedule WHERE name = ANY ($1::text[])
    UNION
    SELECT id FROM {schema}.schedule WHERE owner = $2::text AND deleted_at IS NULL))
ORDER BY id
FOR UPDATE
