-- statement countLaneJobs, returns lane jobs
-- How many jobs wait in a lane, at most :most.
SELECT :lane AS lane, count(*) AS jobs FROM (SELECT 1 FROM hourbell_job_rare WHERE lane = :lane LIMIT :most) AS c
