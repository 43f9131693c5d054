-- statement UpsertPauses
-- Stores a pause.
INSERT INTO hourbell_pause (subject, name, paused_at, until, reason, actor)
VALUES (:subject, :name, {at(:paused_at)}, {at(:until)}, :reason, :actor)
ON DUPLICATE KEY UPDATE paused_at = VALUES(paused_at), until = VALUES(until), reason = VALUES(reason), actor = VALUES(actor)
