-- statement LockCounter, returns value
-- The value of a counter.
SELECT value FROM hourbell_counter WHERE name = :name
