-- statement ReviseSchedules
-- Gives schedules a revision.
UPDATE hourbell_schedule FORCE INDEX (hourbell_schedule_name) SET revision = :revision WHERE name IN (:names)
