-- statement FindMarks, returns mark
-- The marks of the schedules with these names, deleted schedules too.
SELECT {micros(s.mark)} AS mark FROM hourbell_schedule AS s FORCE INDEX (hourbell_schedule_name) WHERE s.name IN (:names)
