-- Makes live jobs claimable again, the token unchanged.
UPDATE hourbell_job AS j
SET state = 0, run_at = :now + o.delay, attempt = j.attempt - o.refund, refunds = j.refunds + o.counted, losses = iif(o.well, 0, j.losses)
FROM (SELECT value ->> 'id' AS id, value ->> 'delay' AS delay, value ->> 'refund' AS refund, value ->> 'counted' AS counted, value ->> 'well' AS well FROM jsonb_each(:jobs)) AS o
WHERE j.id = o.id
