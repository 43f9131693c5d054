-- shared statement deleteSteps
-- Deletes the steps of jobs.
DELETE FROM hourbell_step WHERE job_id IN (SELECT value FROM json_each(:ids))
