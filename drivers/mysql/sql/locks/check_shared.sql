-- check for a table in which others may take the lock without drawing a token, as
-- ShedLock in Java does. The owner of a grant of ours ends in /process/random. The
-- row is held too, before the state, and its owner cannot prolong it until the
-- commit.
SELECT 1
FROM {table} AS l
STRAIGHT_JOIN {state} AS s ON s.name = :name
WHERE l.name = :name AND CAST(l.name AS BINARY) = CAST(:name AS BINARY) AND l.locked_by REGEXP '/[0-9]+/[A-Z2-7]{26}$'
  AND s.token = :token
LOCK IN SHARE MODE
