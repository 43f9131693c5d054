-- shared statement listProgress, returns job_id token done total note at stuck
-- The progress of jobs.
SELECT job_id, token, done, total, note, {micros(at)} AS at, {micros(stuck)} AS stuck
FROM hourbell_progress
WHERE job_id IN (:ids)
