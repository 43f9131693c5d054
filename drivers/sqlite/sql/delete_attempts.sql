-- shared statement deleteAttempts
-- Deletes the attempts of jobs.
DELETE FROM hourbell_attempt WHERE job_id IN (SELECT value FROM json_each(:ids))
