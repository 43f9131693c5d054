SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_declared, created_at, updated_at, deleted_at
FROM hourbell_schedule WHERE name IN (SELECT value FROM json_each(:names))
