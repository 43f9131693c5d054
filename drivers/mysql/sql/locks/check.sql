-- Checks whether a lock still has its token, in a transaction of the caller; no
-- row: it does not. Every grant draws a token, so a lock on the state is enough
-- to block the next grant until the commit, and the owner can extend its lock
-- during the transaction.
SELECT 1
FROM {state}
WHERE name = :name AND token = :token
  AND EXISTS (SELECT 1 FROM {table} AS l WHERE l.name = :name)
LOCK IN SHARE MODE
