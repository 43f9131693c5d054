-- Locks calendars by name, in the order of their names, which are locked before
-- schedules.
SELECT name, revision, definition, updated_at FROM {schema}.calendar WHERE name = ANY (:names::text[]) ORDER BY name FOR UPDATE
