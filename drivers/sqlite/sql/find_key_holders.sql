-- statement FindKeyHolders, returns kind unique_key id live
-- The keys of finished jobs that a live job of their kind has, or that another job holds
-- after its end, and that job. A live job comes last.
SELECT u.kind, u.unique_key, u.job_id AS id, 0 AS live
FROM json_each(:ids) AS o
CROSS JOIN hourbell_history AS h NOT INDEXED ON h.id = o.value
CROSS JOIN hourbell_key_hold AS u ON u.kind = h.kind AND u.unique_key = h.unique_key AND u.until > :now
UNION ALL
SELECT j.kind, j.unique_key, j.id, 1
FROM json_each(:ids) AS o
CROSS JOIN hourbell_history AS h NOT INDEXED ON h.id = o.value
CROSS JOIN hourbell_job AS j ON j.kind = h.kind AND j.unique_key = h.unique_key
