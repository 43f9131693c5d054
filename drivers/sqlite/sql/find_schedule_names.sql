-- shared statement findScheduleNames, returns id name
-- The names of schedules, also of deleted schedules.
SELECT s.id, s.name FROM json_each(:ids) AS o CROSS JOIN hourbell_schedule AS s ON s.id = o.value
