-- shared statement lockStepJob, returns state token
-- The state of a live job, and the token of its last claim.
SELECT max(state, 0) AS state, token FROM hourbell_job WHERE id = :job
