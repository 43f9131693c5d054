-- shared statement deleteProgress
-- Deletes the progress of jobs.
DELETE FROM hourbell_progress WHERE job_id IN (SELECT value FROM json_each(:ids))
