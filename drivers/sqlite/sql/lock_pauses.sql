-- shared statement lockPauses, returns PauseColumns
-- Pauses by name, also pauses that have ended.
SELECT subject, name, paused_at, until, reason, actor FROM hourbell_pause
WHERE subject = :subject AND name IN (SELECT value FROM json_each(:names))
