-- check for a table in which other programs may take the lock without drawing a
-- token, as ShedLock in Java does. The owner of a grant of Hourbell ends in
-- /process/random. The row is locked too, before the state as in every
-- statement, and its owner cannot extend the lock until the commit.
SELECT true
FROM {table} AS l
JOIN {state} AS s ON s.name = :name::text
WHERE l.name = :name::text AND l.name COLLATE "C" = :name::text AND l.locked_by ~ '/[0-9]+/[A-Z2-7]{26}$'
  AND s.token = :token::bigint
FOR SHARE
