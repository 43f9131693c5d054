-- shared statement upsertHandlers
-- Stores a handler.
INSERT INTO hourbell_handler (name, events, kind, group_name, job, updated_at)
VALUES (:name, :events, :kind, :group_name, :job, {at(:now)})
ON DUPLICATE KEY UPDATE
  events = VALUES(events), kind = VALUES(kind), group_name = VALUES(group_name), job = VALUES(job), updated_at = VALUES(updated_at)
