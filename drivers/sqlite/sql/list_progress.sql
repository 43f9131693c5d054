-- shared statement listProgress, returns job_id token done total note at stuck
-- The progress of jobs.
SELECT p.job_id, p.token, p.done, p.total, p.note, p.at, p.stuck
FROM json_each(:ids) AS o
CROSS JOIN hourbell_progress AS p ON p.job_id = o.value
