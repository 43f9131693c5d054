-- shared statement lockStepJob, returns state token
-- Locks a live job, and returns its state and the token of its last claim.
SELECT greatest(state, 0) AS state, token FROM hourbell_job FORCE INDEX (PRIMARY) WHERE id = :job FOR UPDATE
