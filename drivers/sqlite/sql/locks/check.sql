-- Checks, in a transaction of the caller, whether a lock still has its token; no
-- row: it does not. Writing the present value makes the transaction the writer,
-- so that no other caller can take the lock until the transaction ends.
UPDATE {state}
SET token = token
WHERE name = :name AND token = :token
  AND EXISTS (SELECT 1 FROM {table} AS l WHERE l.name = :name AND l.name = :name COLLATE BINARY)
RETURNING 1
