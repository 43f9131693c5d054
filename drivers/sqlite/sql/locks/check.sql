-- Checks, in a transaction of the caller, that a lock still has its token; no
-- row: it does not. Writing the present value makes the transaction the writer,
-- so that no other caller can take the lock until the transaction ends. In a
-- table in which other programs take locks without drawing a token, a grant of
-- Hourbell is recognised by the end of its owner, /process/random.
UPDATE {state}
SET token = token
WHERE name = :name AND token = :token
  AND EXISTS (SELECT 1 FROM {table} AS l
              WHERE l.name = :name AND l.name = :name COLLATE BINARY
                AND (NOT :shared OR l.locked_by GLOB '*/[0-9]*/[A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7]*'))
