-- shared statement upsertHandlers
-- Stores a handler.
INSERT INTO hourbell_handler (name, events, kind, group_name, job, updated_at)
VALUES (:name, :events, :kind, :group_name, :job, :now)
ON CONFLICT (name) DO UPDATE SET
  events = excluded.events, kind = excluded.kind, group_name = excluded.group_name, job = excluded.job, updated_at = excluded.updated_at
