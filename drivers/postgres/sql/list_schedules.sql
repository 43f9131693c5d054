-- Schedules by name, in byte order. A condition that is null does not count.
SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at, f.failures, f.since
FROM {schema}.schedule LEFT JOIN {schema}.failing AS f ON f.schedule_id = id
WHERE ($1::text[] IS NULL OR name = ANY ($1))
    AND ($2::bigint[] IS NULL OR id = ANY ($2))
    AND ($3::text IS NULL OR owner = $3)
    AND name > $4::text COLLATE "C"
    AND ($5::boolean OR deleted_at IS NULL)
    AND ($7::text IS NULL OR id IN (SELECT u.schedule_id FROM {schema}.calendar_use AS u WHERE u.calendar = $7))
ORDER BY name LIMIT $6::bigint
