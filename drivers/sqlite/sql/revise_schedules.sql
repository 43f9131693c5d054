-- statement ReviseSchedules
-- Gives schedules their next revision.
UPDATE hourbell_schedule SET revision = revision + 1 WHERE name IN (SELECT value FROM json_each(:names))
