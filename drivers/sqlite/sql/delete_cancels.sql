-- statement DeleteCancels
-- Deletes the cancel requests of jobs.
DELETE FROM hourbell_cancel_request WHERE job_id IN (SELECT value FROM json_each(:ids))
