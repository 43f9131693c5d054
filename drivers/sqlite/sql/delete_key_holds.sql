-- shared statement deleteKeyHolds
-- Deletes the holds of jobs that are deleted, too.
DELETE FROM hourbell_key_hold WHERE job_id IN (SELECT value FROM json_each(:ids))
