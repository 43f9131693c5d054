-- shared statement listPauses, returns PauseColumns
-- The pauses that have not ended.
SELECT subject, name, {micros(paused_at)} AS paused_at, {micros(until)} AS until, reason, actor FROM hourbell_pause
WHERE until IS NULL OR until > {at(:now)}
ORDER BY subject, name
