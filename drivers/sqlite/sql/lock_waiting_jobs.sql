-- statement lockWaitingJobs, returns place id busy
-- The serial groups (a schedule's backfilled jobs, or its other jobs) in which a job waits:
-- the job that waits first, and whether a job is ready or running. The index of all jobs
-- of a schedule would be slower to find waiting jobs, because a schedule may have many
-- jobs, and few of them wait.
SELECT o.key AS place, w.id, EXISTS (SELECT 1 FROM hourbell_job AS j
  WHERE j.schedule_id = w.schedule_id AND j.state <> 1 AND (j.origin {backfill}) = (w.origin {backfill})) AS busy
FROM jsonb_each(:groups) AS o
CROSS JOIN hourbell_job AS w ON w.id = (
  SELECT f.id FROM hourbell_job AS f INDEXED BY hourbell_job_serial_group
  WHERE f.state = 1 AND f.schedule_id = o.value ->> 'schedule' AND (f.origin {backfill}) = (o.value ->> 'backfill')
  ORDER BY f.slot, f.id LIMIT 1)
