-- statement LockFailing, returns schedule_id failures
-- The schedules that are failing, and how many of their jobs in a row failed.
SELECT f.schedule_id, f.failures
FROM json_each(:ids) AS o
CROSS JOIN hourbell_failing AS f ON f.schedule_id = o.value
