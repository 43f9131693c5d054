-- The named schedules that are due, earliest first.
SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at,
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id)
FROM {schema}.schedule
WHERE name = ANY ($3::text[]) AND (next_at <= coalesce($1::timestamptz, now())) IS TRUE
ORDER BY next_at, id LIMIT $2::bigint
