-- Makes live jobs claimable again, the token unchanged.
UPDATE hourbell_job AS j
SET state = 0, run_at = :now + o.delay, attempt = j.attempt - o.refund
FROM (SELECT value ->> 'id' AS id, value ->> 'delay' AS delay, value ->> 'refund' AS refund FROM jsonb_each(:jobs)) AS o
WHERE j.id = o.id
