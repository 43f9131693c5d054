-- statement lockSerialGroupJobs, returns id
-- Locks the ready and running jobs of schedules, in the order of their numbers.
SELECT j.id
FROM (
  SELECT r.job_id AS id FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_schedule)
  WHERE r.schedule_id IN (:schedules) AND r.state <> 1
  ORDER BY r.job_id LIMIT 1000000000
  {share}
) AS o STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
FOR UPDATE
