-- statement insertCalendars, takes now names definitions, returns name revision
-- Creates calendars. A name that is missing in the answer was created concurrently.
-- Revisions are tokens, so that they also grow after a name was deleted.
INSERT INTO {schema}.calendar (name, revision, definition, updated_at)
SELECT new.name, nextval('{schema_text}.token'), new.definition, coalesce(:now::timestamptz, now())
FROM unnest(:names::text[], :definitions::text[]) AS new (name, definition)
ON CONFLICT (name) DO NOTHING
RETURNING name, revision
