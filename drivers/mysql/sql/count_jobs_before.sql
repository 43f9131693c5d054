-- statement countJobsBefore, returns job_id jobs
-- How many jobs of a lane are before a job, at most :most.
SELECT :id AS job_id, count(*) AS jobs FROM (
  SELECT 1 FROM hourbell_job_rare
  WHERE lane = :lane AND priority <= :priority AND (priority < :priority OR state < :state OR state = :state
    AND (run_at < {at(:run_at)} OR run_at = {at(:run_at)} AND job_id < :id))
  LIMIT :most) AS c
