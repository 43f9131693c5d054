-- statement ReviseSchedules
-- Gives schedules their next revision.
UPDATE hourbell_schedule FORCE INDEX (hourbell_schedule_name) SET revision = revision + 1 WHERE name IN (:names)
