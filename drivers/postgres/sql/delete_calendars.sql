-- Deletes calendars, which are locked.
DELETE FROM {schema}.calendar WHERE name = ANY ($1::text[])
