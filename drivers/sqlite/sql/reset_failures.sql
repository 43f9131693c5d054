-- statement ResetFailures
-- Counts the failures of schedules from 0 again.
UPDATE hourbell_failing SET failures = 0 WHERE schedule_id IN (SELECT value FROM json_each(:ids))
