-- statement ReleaseJobs
-- Makes waiting jobs ready.
UPDATE hourbell_job SET state = 0 WHERE id IN (SELECT value FROM json_each(:ids))
