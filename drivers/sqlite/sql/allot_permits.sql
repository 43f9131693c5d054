-- statement AllotPermits
-- Gives jobs permits, or lets them wait in lanes. A job that has waited is due now.
UPDATE hourbell_job AS j
SET state = o.state, lane = nullif(o.lane, 0), permits = o.permits, run_at = iif(j.lane IS NOT NULL AND o.lane = 0, max(j.run_at, :now), j.run_at)
FROM (SELECT value ->> 'id' AS id, value ->> 'state' AS state, value ->> 'lane' AS lane, value ->> 'permits' AS permits FROM jsonb_each(:jobs)) AS o
WHERE j.id = o.id
