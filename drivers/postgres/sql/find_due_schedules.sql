-- Schedules that are due, or will be within :ahead microseconds, earliest first.
SELECT id, name, owner, revision, definition, anchor, mark, next_at, fired, paused_at, paused_until, paused_declared, created_at, updated_at, deleted_at,
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id) AS failures
FROM {schema}.schedule
WHERE next_at <= coalesce(:now::timestamptz, now()) + :ahead::bigint * interval '1 microsecond'
    AND (next_at, id) > (coalesce(:after_at::timestamptz, '-infinity'), :after_id::bigint)
ORDER BY next_at, id LIMIT :limit::bigint
