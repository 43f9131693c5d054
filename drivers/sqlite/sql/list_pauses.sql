-- shared statement listPauses, returns PauseColumns
-- The pauses that have not ended.
SELECT subject, name, paused_at, until, reason, actor FROM hourbell_pause
WHERE until IS NULL OR until > :now
ORDER BY subject, name
