-- Finished jobs whose key a living job of their kind holds, and that job.
SELECT h.id, j.id
FROM json_each(:ids) AS o
CROSS JOIN hourbell_history AS h ON h.id = o.value
CROSS JOIN hourbell_job AS j ON j.kind = h.kind AND j.unique_key = h.unique_key
