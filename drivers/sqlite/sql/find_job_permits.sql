-- statement FindJobPermits, returns id permits
-- The permits of jobs.
SELECT j.id, j.permits FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value WHERE j.permits IS NOT NULL
