-- statement LockCalendarUsers, returns calendar name next_at
-- The schedules that name calendars, once for each of these calendars. Deleted schedules do
-- not count.
SELECT u.calendar, s.name, s.next_at
FROM hourbell_calendar_use AS u
CROSS JOIN hourbell_schedule AS s ON s.id = u.schedule_id
WHERE u.calendar IN (SELECT value FROM json_each(:names)) AND s.deleted_at IS NULL
