-- shared statement lockCalendars, returns CalendarColumns
-- Locks calendars by name.
SELECT name, revision, definition, {micros(c.updated_at)} AS updated_at FROM hourbell_calendar AS c FORCE INDEX (PRIMARY) WHERE name IN (:names) FOR UPDATE
