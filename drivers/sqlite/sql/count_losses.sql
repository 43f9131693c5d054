-- Counts one loss more of jobs.
UPDATE hourbell_job SET losses = losses + 1 WHERE id IN (SELECT value FROM json_each(:ids))
