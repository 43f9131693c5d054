-- shared statement listSteps, returns job_id name sort place version value waits until timed_out at
-- The steps of jobs.
SELECT s.job_id, s.name, s.sort, s.place, s.version, s.value, s.waits, s.until, s.timed_out, s.at
FROM json_each(:ids) AS o CROSS JOIN hourbell_step AS s ON s.job_id = o.value
ORDER BY s.job_id, s.place, s.name
