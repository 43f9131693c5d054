-- Locks the ready and running jobs of schedules, in the order of their numbers.
SELECT j.id
FROM (
  SELECT l.id FROM hourbell_job AS l FORCE INDEX (hourbell_job_schedule)
  WHERE l.schedule_id IN (:schedules) AND l.state <> 1
  ORDER BY l.id LIMIT 1000000000
  {share}
) AS o STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
FOR UPDATE
