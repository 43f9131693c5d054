-- check for a table in which other programs may take the lock without drawing a
-- token. The owner of a grant of Hourbell ends in /process/random.
UPDATE {state}
SET token = token
WHERE name = :name AND token = :token
  AND EXISTS (SELECT 1 FROM {table} AS l
              WHERE l.name = :name AND l.name = :name COLLATE BINARY
                AND l.locked_by GLOB '*/[0-9]*/[A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7]*')
RETURNING 1
