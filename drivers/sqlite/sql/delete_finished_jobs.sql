-- shared statement deleteFinishedJobs
-- Deletes finished jobs.
DELETE FROM hourbell_history WHERE id IN (SELECT value FROM json_each(:ids))
