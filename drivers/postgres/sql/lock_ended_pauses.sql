-- Locks pauses that have ended and that no other transaction locks.
SELECT name FROM {schema}.pause
WHERE subject = 0 AND until <= coalesce(:now::timestamptz, now())
ORDER BY name FOR UPDATE SKIP LOCKED
