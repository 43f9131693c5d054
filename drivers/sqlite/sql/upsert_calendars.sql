-- shared statement upsertCalendars
-- Creates or changes calendars.
INSERT INTO hourbell_calendar (name, revision, definition, updated_at)
SELECT value ->> 'name', value ->> 'revision',
       coalesce(substr(:bytes, value ->> 'definition_at', value ->> 'definition_len'), x''), value ->> 'now'
FROM jsonb_each(:rows)
WHERE true -- so that ON is not parsed as a join condition
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, definition = excluded.definition, updated_at = excluded.updated_at
