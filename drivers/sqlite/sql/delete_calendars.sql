-- shared statement deleteCalendars
-- Deletes calendars.
DELETE FROM hourbell_calendar WHERE name IN (SELECT value FROM json_each(:names))
