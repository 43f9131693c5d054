-- Makes live jobs claimable again. Their tokens stay.
UPDATE hourbell_job AS j
SET state = 0, run_at = :now + o.delay, attempt = j.attempt - o.refund, refunds = min(j.refunds + o.counted, 32767),
    losses = iif(o.well, 0, min(j.losses + o.lost, 32767)), snoozes = iif(o.snoozed, coalesce(j.snoozes, 0) + 1, j.snoozes)
FROM (SELECT value ->> 'id' AS id, value ->> 'delay' AS delay, value ->> 'refund' AS refund, value ->> 'counted' AS counted,
        value ->> 'well' AS well, value ->> 'lost' AS lost, value ->> 'snoozed' AS snoozed FROM jsonb_each(:jobs)) AS o
WHERE j.id = o.id
