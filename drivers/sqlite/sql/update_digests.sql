-- Gives jobs the digests of their args.
UPDATE hourbell_job AS j
SET digest = unhex(o.value ->> 'digest')
FROM jsonb_each(:digests) AS o
WHERE j.id = o.value ->> 'id'
