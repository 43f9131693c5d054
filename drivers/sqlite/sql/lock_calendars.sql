-- shared statement lockCalendars, returns CalendarColumns
-- Calendars by name.
SELECT name, revision, definition, updated_at FROM hourbell_calendar WHERE name IN (SELECT value FROM json_each(:names))
