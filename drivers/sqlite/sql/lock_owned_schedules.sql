SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at,
       coalesce((SELECT f.failures FROM hourbell_failing AS f WHERE f.schedule_id = hourbell_schedule.id), 0) AS failures
FROM hourbell_schedule WHERE owner = :owner AND deleted_at IS NULL
ORDER BY name
