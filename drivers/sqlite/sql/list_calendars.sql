-- shared statement listCalendars, returns CalendarColumns, a listing
-- Calendars by name, in byte order.
SELECT name, revision, definition, updated_at FROM hourbell_calendar
WHERE name > :after
  AND name IN (SELECT value FROM json_each(:names)) -- if names
ORDER BY name
LIMIT +:limit
