-- Schedules that are due, earliest first.
SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at,
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id)
FROM {schema}.schedule
WHERE next_at <= coalesce($1::timestamptz, now())
ORDER BY next_at, id LIMIT $2::bigint
