-- The serial groups (a schedule's backfilled jobs, or its other jobs) in which a job waits.
-- The index of all jobs of a schedule would be slower, because a schedule may have many
-- jobs, and few of them wait.
SELECT o.key
FROM jsonb_each(:groups) AS o
WHERE EXISTS (SELECT 1 FROM hourbell_job AS w INDEXED BY hourbell_job_lane
  WHERE w.state = 1 AND w.schedule_id = o.value ->> 'schedule' AND (w.origin = 3) = (o.value ->> 'backfill'))
