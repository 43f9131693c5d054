-- shared statement deleteOutput
-- Deletes the stored output of attempts that end.
DELETE FROM hourbell_output WHERE job_id IN (SELECT value FROM json_each(:ids))
