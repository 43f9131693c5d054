-- Whether a lock still stands with its token, in a transaction of the caller's; no
-- row: it does not. Every grant draws a token, so to hold the state is enough to
-- hold off the next until the commit, and the owner can prolong its lock in between.
SELECT true
FROM {state} AS s
WHERE s.name = $1::text AND s.token = $2::bigint
  AND EXISTS (SELECT FROM {table} AS l WHERE l.name = $1::text)
FOR SHARE OF s
