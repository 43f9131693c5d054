-- Which of these schedules fail, and how often in a row their jobs did.
SELECT f.schedule_id, f.failures
FROM json_each(:ids) AS o
CROSS JOIN hourbell_failing AS f ON f.schedule_id = o.value
