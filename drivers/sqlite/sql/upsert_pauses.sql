-- statement UpsertPauses
-- Stores a pause.
INSERT INTO hourbell_pause (subject, name, paused_at, until, reason, actor)
VALUES (:subject, :name, :paused_at, :until, :reason, :actor)
ON CONFLICT (subject, name) DO UPDATE SET
  paused_at = excluded.paused_at, until = excluded.until, reason = excluded.reason, actor = excluded.actor
