-- Which of these jobs were not started.
SELECT h.id FROM json_each(:ids) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value WHERE h.state = 6
