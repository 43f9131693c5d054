-- statement LockTriggeredSchedules, returns id mark
-- The marks of schedules: up to them, slots may have fired early.
SELECT s.id, s.mark
FROM json_each(:ids) AS o CROSS JOIN hourbell_schedule AS s ON s.id = o.value
