-- statement lockStepJob, takes id now, returns state token now
-- Locks a live job, and returns its state and the token of its last claim.
SELECT CASE WHEN running THEN 2 WHEN state = 1 THEN 1 ELSE 0 END AS state, token, coalesce(:now::timestamptz, now()) AS now
FROM {schema}.job WHERE id = :id::bigint FOR UPDATE
