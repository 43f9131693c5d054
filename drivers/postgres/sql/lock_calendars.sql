-- statement lockCalendars, takes names, returns calendarColumns
-- Locks calendars, in the order of their names. Calendars are locked before schedules.
SELECT name, revision, definition, updated_at FROM {schema}.calendar WHERE name = ANY (:names::text[]) ORDER BY name FOR UPDATE
