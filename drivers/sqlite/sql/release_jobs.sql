-- Makes the job that waits first in each serial group ready if the group is free.
UPDATE hourbell_job SET state = 0
WHERE id IN (
  SELECT (SELECT w.id FROM hourbell_job AS w
          WHERE w.state = 1 AND w.schedule_id = o.value ->> 'schedule' AND (w.origin = 3) = (o.value ->> 'backfill')
          ORDER BY w.slot, w.id LIMIT 1)
  FROM jsonb_each(:groups) AS o
  WHERE NOT EXISTS (SELECT 1 FROM hourbell_job AS j
    WHERE j.schedule_id = o.value ->> 'schedule' AND j.state <> 1 AND (j.origin = 3) = (o.value ->> 'backfill')))
