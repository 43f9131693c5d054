-- check for a table in which others may take the lock without drawing a token, as
-- ShedLock in Java does. The owner of a grant of ours ends in /process/random. The
-- row is held too, before the state as everywhere, and its owner cannot prolong it
-- until the commit.
SELECT true
FROM {table} AS l
JOIN {state} AS s ON s.name = $1::text
WHERE l.name = $1::text AND l.name COLLATE "C" = $1::text AND l.locked_by ~ '/[0-9]+/[A-Z2-7]{26}$'
  AND s.token = $2::bigint
FOR SHARE
