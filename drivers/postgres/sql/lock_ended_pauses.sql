-- statement lockEndedPauses, takes now, returns subject name
-- Locks pauses that have ended and that no other transaction locks.
SELECT subject, name FROM {schema}.pause
WHERE until <= coalesce(:now::timestamptz, now())
ORDER BY subject, name FOR UPDATE SKIP LOCKED
