-- Creates calendars. A name that is missing in the answer appeared meanwhile.
-- Revisions grow also where a name was deleted, for tokens do.
INSERT INTO {schema}.calendar (name, revision, definition, updated_at)
SELECT new.name, nextval('{schema_text}.token'), new.definition, coalesce($1::timestamptz, now())
FROM unnest($2::text[], $3::text[]) AS new (name, definition)
ON CONFLICT (name) DO NOTHING
RETURNING name, revision
