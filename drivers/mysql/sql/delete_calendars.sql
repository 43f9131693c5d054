-- shared statement deleteCalendars
-- Deletes calendars.
DELETE FROM hourbell_calendar WHERE name IN (:names)
