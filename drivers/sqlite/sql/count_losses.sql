-- shared statement countLosses
-- Counts one more loss of jobs.
UPDATE hourbell_job SET losses = min(losses + 1, 32767) WHERE id IN (SELECT value FROM json_each(:ids))
