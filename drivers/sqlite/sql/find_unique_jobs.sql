-- The live jobs that have some kinds and keys, each with the place of its key.
SELECT o.key AS place, j.id
FROM jsonb_each(:keys) AS o
CROSS JOIN hourbell_job AS j ON j.kind = o.value ->> 'Kind' AND j.unique_key = o.value ->> 'Unique'
