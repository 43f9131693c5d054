-- Which of these schedules fail.
SELECT f.schedule_id
FROM json_each(:ids) AS o
CROSS JOIN hourbell_failing AS f ON f.schedule_id = o.value
