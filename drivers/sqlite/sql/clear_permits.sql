-- Takes permits from jobs, and lets jobs leave the lanes in which they wait.
UPDATE hourbell_job SET permits = NULL, lane = NULL, state = 0 WHERE id IN (SELECT value FROM json_each(:ids))
