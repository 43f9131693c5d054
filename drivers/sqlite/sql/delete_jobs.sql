-- shared statement deleteJobs
-- Deletes live jobs.
DELETE FROM hourbell_job WHERE id IN (SELECT value FROM json_each(:ids))
