-- statement insertCalendarUses, takes calendars names
-- Records which calendars schedules name.
INSERT INTO {schema}.calendar_use (calendar, schedule_id)
SELECT u.calendar, s.id
FROM unnest(:calendars::text[], :names::text[]) AS u (calendar, schedule) JOIN {schema}.schedule AS s ON s.name = u.schedule
