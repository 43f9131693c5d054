-- Checks whether a lock still has its token, in a transaction of the caller; no
-- row: it does not. Every grant draws a token, so a lock on the state is enough
-- to block the next grant until the commit, and the owner can extend its lock
-- during the transaction.
SELECT true
FROM {state} AS s
WHERE s.name = :name::text AND s.token = :token::bigint
  AND EXISTS (SELECT FROM {table} AS l WHERE l.name = :name::text)
FOR SHARE OF s
