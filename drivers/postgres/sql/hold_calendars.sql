-- statement holdCalendars, takes names, returns name
-- Prevents that calendars are changed or deleted until the schedules that name them are
-- written, and returns the calendars that exist.
SELECT name FROM {schema}.calendar WHERE name = ANY (:names::text[]) ORDER BY name FOR KEY SHARE
