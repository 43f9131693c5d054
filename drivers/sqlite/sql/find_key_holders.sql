-- The keys of finished jobs that a live job of their kind has, and that job.
SELECT j.kind, j.unique_key, j.id
FROM json_each(:ids) AS o
CROSS JOIN hourbell_history AS h ON h.id = o.value
CROSS JOIN hourbell_job AS j ON j.kind = h.kind AND j.unique_key = h.unique_key
