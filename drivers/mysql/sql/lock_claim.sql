-- statement lockClaim, returns token
-- Locks a live job, unless another transaction has locked it, and returns its token.
SELECT token FROM hourbell_job WHERE id = :id FOR UPDATE SKIP LOCKED
