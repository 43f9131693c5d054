-- Schedules that are due, or will be within $3 microseconds, earliest first.
SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at,
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id)
FROM {schema}.schedule
WHERE next_at <= coalesce($1::timestamptz, now()) + $3::bigint * interval '1 microsecond'
    AND (next_at, id) > (coalesce($4::timestamptz, '-infinity'), $5::bigint)
ORDER BY next_at, id LIMIT $2::bigint
