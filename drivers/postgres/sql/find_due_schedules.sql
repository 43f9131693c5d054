-- statement findDueSchedules, takes now limit ahead after_at after_id, returns scheduleColumns
-- Schedules that are due, or will be within :ahead microseconds, earliest first.
SELECT {schedule_columns},
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id) AS failures
FROM {schema}.schedule
WHERE next_at <= coalesce(:now::timestamptz, now()) + :ahead::bigint * interval '1 microsecond'
    AND (next_at, id) > (coalesce(:after_at::timestamptz, '-infinity'), :after_id::bigint)
ORDER BY next_at, id LIMIT :limit::bigint
