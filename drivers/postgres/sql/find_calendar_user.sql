-- statement findCalendarUser, takes names, returns calendar
-- One of these calendars that a schedule names, if any. Deleted schedules do not count.
SELECT u.calendar
FROM {schema}.calendar_use AS u JOIN {schema}.schedule AS s ON s.id = u.schedule_id
WHERE u.calendar = ANY (:names::text[]) AND s.deleted_at IS NULL
LIMIT 1
