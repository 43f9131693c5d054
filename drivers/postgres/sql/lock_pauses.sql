-- statement lockPauses, takes subject names, returns pauseColumns
-- Pauses by name, also pauses that have ended. The lock of the table that FOR SHARE takes also
-- keeps new pauses out, until the transaction ends.
SELECT subject, name, paused_at, until, reason, actor FROM {schema}.pause
WHERE subject = :subject::smallint AND name = ANY (:names::text[])
ORDER BY subject, name FOR SHARE
