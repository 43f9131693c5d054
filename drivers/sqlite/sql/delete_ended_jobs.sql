-- statement DeleteEndedJobs
-- Deletes live jobs that end_jobs has copied to history.
DELETE FROM hourbell_job WHERE id IN (SELECT value FROM json_each(:ids))
