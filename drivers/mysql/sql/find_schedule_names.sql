-- shared statement findScheduleNames, returns id name
-- The names of schedules, also of deleted schedules.
SELECT id, name FROM hourbell_schedule WHERE id IN (:ids)
