-- statement UpdateWaits
-- Sets for how many jobs waiting jobs still wait. Without any they are ready.
UPDATE hourbell_job AS j
SET waits = nullif(o.value ->> 'open', 0), run_at = o.value ->> 'run_at', state = (o.value ->> 'open') <> 0
FROM jsonb_each(:waits) AS o
WHERE j.id = o.value ->> 'id'
