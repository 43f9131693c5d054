-- statement lockEndedPauses, returns subject name
-- Locks pauses that have ended and that no other transaction locks.
SELECT subject, name FROM hourbell_pause WHERE until <= {at(:now)} ORDER BY subject, name FOR UPDATE SKIP LOCKED
