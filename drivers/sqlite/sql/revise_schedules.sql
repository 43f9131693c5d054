-- statement ReviseSchedules
-- Gives schedules a revision.
UPDATE hourbell_schedule SET revision = :revision WHERE name IN (SELECT value FROM json_each(:names))
