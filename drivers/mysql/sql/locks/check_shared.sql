-- check for a table in which other programs may take the lock without drawing a
-- token, as ShedLock in Java does. The owner of a grant of Hourbell ends in
-- /process/random. The row is locked too, before the state, and its owner
-- cannot extend the lock until the commit.
SELECT 1
FROM {table} AS l
STRAIGHT_JOIN {state} AS s ON s.name = :name
WHERE l.name = :name AND CAST(l.name AS BINARY) = CAST(:name AS BINARY) AND l.locked_by REGEXP '/[0-9]+/[A-Z2-7]{26}$'
  AND s.token = :token
LOCK IN SHARE MODE
