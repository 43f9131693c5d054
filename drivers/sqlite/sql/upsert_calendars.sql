-- statement UpsertCalendars
-- Creates or changes calendars.
INSERT INTO hourbell_calendar (name, revision, definition, updated_at)
SELECT value ->> 'name', :revision, coalesce(substr(:bytes, value ->> 'at', value ->> 'len'), x''), :now
FROM jsonb_each(:calendars)
WHERE true -- so that ON is not parsed as a join condition
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, definition = excluded.definition, updated_at = excluded.updated_at
