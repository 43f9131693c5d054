-- shared statement upsertCalendars
-- Creates or changes calendars. The counter of revisions is locked, so that no other transaction creates them.
INSERT INTO hourbell_calendar (name, revision, definition, updated_at)
VALUES
(:name, :revision, :definition, {at(:now)})
ON DUPLICATE KEY UPDATE revision = VALUES(revision), definition = VALUES(definition), updated_at = VALUES(updated_at)
