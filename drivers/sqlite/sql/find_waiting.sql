-- statement findWaiting, returns id waits run_at
-- Jobs that wait for jobs.
SELECT j.id, j.waits, j.run_at FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value
WHERE j.state = 1 AND j.waits IS NOT NULL
