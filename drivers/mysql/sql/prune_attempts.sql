-- statement PruneAttempts
-- Deletes the records of a job's attempts up to a token.
DELETE FROM hourbell_attempt WHERE job_id = :id AND token <= :token
