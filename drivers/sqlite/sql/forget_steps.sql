-- shared statement forgetSteps
-- Deletes steps of jobs, by their names.
DELETE FROM hourbell_step WHERE (job_id, name) IN (SELECT value ->> 'id', value ->> 'name' FROM json_each(:steps))
