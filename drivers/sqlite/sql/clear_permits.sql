-- Takes permits from jobs.
UPDATE hourbell_job SET permits = NULL WHERE id IN (SELECT value FROM json_each(:ids))
