-- statement InsertCalendarUses
-- Records which calendars schedules name.
INSERT INTO hourbell_calendar_use (calendar, schedule_id)
SELECT u.value ->> 'calendar', s.id
FROM json_each(:uses) AS u
CROSS JOIN hourbell_schedule AS s ON s.name = u.value ->> 'schedule'
