-- statement listPauses, takes now, returns pauseColumns
-- The pauses that have not ended.
SELECT subject, name, paused_at, until, reason, actor FROM {schema}.pause
WHERE coalesce(until > coalesce(:now::timestamptz, now()), true)
ORDER BY subject, name
