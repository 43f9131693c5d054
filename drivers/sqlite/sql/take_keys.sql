-- shared statement takeKeys
-- Takes their keys away from live jobs.
UPDATE hourbell_job SET unique_key = NULL WHERE id IN (SELECT value FROM json_each(:ids))
