-- Makes sure, in a transaction of the caller's, that a lock still stands with its
-- token; no row: it does not. Writing what is there makes the transaction the
-- writer, and nobody takes the lock until it ends. In a table that others take
-- locks in without drawing a token, the owner of a grant of ours is told by how it
-- ends, /process/random.
UPDATE {state}
SET token = token
WHERE name = :name AND token = :token
  AND EXISTS (SELECT 1 FROM {table} AS l
              WHERE l.name = :name AND l.name = :name COLLATE BINARY
                AND (NOT :shared OR l.locked_by GLOB '*/[0-9]*/[A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7]*'))
