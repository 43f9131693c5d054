-- statement LockCounter, returns value
-- Locks a counter, and reads it.
SELECT value FROM hourbell_counter WHERE name = :name FOR UPDATE
