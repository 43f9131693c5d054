-- statement FindMarks, returns mark
-- The marks of the schedules with these names, deleted schedules too.
SELECT s.mark
FROM json_each(:names) AS o CROSS JOIN hourbell_schedule AS s ON s.name = o.value
