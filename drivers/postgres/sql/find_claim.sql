-- statement findClaim, takes id token, returns state
-- What became of a claim: 0 the job still has the token, 1 the same, but a transaction has
-- locked the job, 2 the job was completed under the token, or neither the job nor its
-- history exists, 3 the claim was lost. A job that is being completed at this moment counts
-- as locked. Waits for no lock.
WITH held AS MATERIALIZED (
    SELECT token FROM {schema}.job WHERE id = :id::bigint FOR KEY SHARE SKIP LOCKED
)
SELECT CASE
    WHEN EXISTS (SELECT FROM {schema}.history WHERE id = :id::bigint AND token = :token::bigint AND state = 3) THEN 2
    WHEN EXISTS (SELECT FROM {schema}.history WHERE id = :id::bigint) THEN 3
    WHEN EXISTS (SELECT FROM held WHERE token = :token::bigint) THEN 0
    WHEN EXISTS (SELECT FROM held) THEN 3
    WHEN EXISTS (SELECT FROM {schema}.job WHERE id = :id::bigint) THEN 1
    ELSE 2 END AS state
