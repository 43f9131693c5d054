-- statement findDueSchedulesNamed, takes now limit names, returns scheduleColumns
-- The named schedules that are due, earliest first.
SELECT {schedule_columns},
    (SELECT f.failures FROM {schema}.failing AS f WHERE f.schedule_id = schedule.id) AS failures
FROM {schema}.schedule
WHERE name = ANY (:names::text[]) AND (next_at <= coalesce(:now::timestamptz, now())) IS TRUE
ORDER BY next_at, id LIMIT :limit::bigint
