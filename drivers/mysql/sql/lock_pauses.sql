-- shared statement lockPauses, returns PauseColumns
-- Pauses by name, also pauses that have ended.
SELECT subject, name, {micros(paused_at)} AS paused_at, {micros(until)} AS until, reason, actor FROM hourbell_pause
WHERE subject = :subject AND name IN (:names) FOR UPDATE
