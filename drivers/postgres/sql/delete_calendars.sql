-- statement deleteCalendars, takes names
-- Deletes calendars, which are locked.
DELETE FROM {schema}.calendar WHERE name = ANY (:names::text[])
