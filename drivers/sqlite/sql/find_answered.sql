-- shared statement findAnswered, returns id
-- The jobs, which are locked, whose steps are not open any more.
SELECT s.job_id AS id
FROM json_each(:waits) AS o CROSS JOIN hourbell_step AS s ON s.job_id = o.value ->> 'id' AND s.name = o.value ->> 'name'
WHERE NOT s.waits
