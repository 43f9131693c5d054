-- The serial groups, a schedule's backfilled jobs or its others, in which a job waits.
-- The index of all jobs of a schedule would be the wrong one: they may be many,
-- and those that wait are few.
SELECT o.key
FROM jsonb_each(:groups) AS o
WHERE EXISTS (SELECT 1 FROM hourbell_job AS w INDEXED BY hourbell_job_lane
  WHERE w.state = 1 AND w.schedule_id = o.value ->> 'schedule' AND (w.origin = 3) = (o.value ->> 'backfill'))
