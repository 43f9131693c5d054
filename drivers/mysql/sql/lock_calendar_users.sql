-- statement LockCalendarUsers, returns calendar name next_at
-- Locks the schedules that name calendars, and returns them once for each of these calendars. Deleted
-- schedules do not count.
SELECT u.calendar, s.name, {micros(s.next_at)} AS next_at
FROM hourbell_calendar_use AS u FORCE INDEX (PRIMARY)
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (PRIMARY) ON s.id = u.schedule_id
WHERE u.calendar IN (:names) AND s.deleted_at IS NULL
FOR UPDATE
