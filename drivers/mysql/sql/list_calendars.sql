-- shared statement listCalendars, returns CalendarColumns, a listing
-- Calendars by name, in byte order.
SELECT name, revision, definition, {micros(c.updated_at)} AS updated_at FROM hourbell_calendar AS c
WHERE name > :after
  AND name IN (:names) -- if names
ORDER BY name
LIMIT :limit
