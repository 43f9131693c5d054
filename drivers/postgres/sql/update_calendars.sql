-- statement updateCalendars, takes now names definitions, returns name revision
-- Changes calendars, which are locked.
UPDATE {schema}.calendar AS c
SET revision = greatest(nextval('{schema_text}.token'), c.revision + 1), definition = new.definition, updated_at = coalesce(:now::timestamptz, now())
FROM unnest(:names::text[], :definitions::text[]) AS new (name, definition)
WHERE c.name = new.name
RETURNING c.name, c.revision
