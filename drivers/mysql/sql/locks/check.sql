-- Whether a lock still stands with its token, in a transaction of the caller's; no
-- row: it does not. Every grant draws a token, so to hold the state is enough to
-- hold off the next until the commit, and the owner can prolong its lock in between.
SELECT 1
FROM {state}
WHERE name = :name AND token = :token
  AND EXISTS (SELECT 1 FROM {table} AS l WHERE l.name = :name)
LOCK IN SHARE MODE
