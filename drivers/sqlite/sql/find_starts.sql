-- statement findStarts, returns job_id lane
-- The starts that jobs hold.
SELECT j.id AS job_id, - p.value AS lane FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value CROSS JOIN json_each(j.permits) AS p
WHERE p.value < 0
