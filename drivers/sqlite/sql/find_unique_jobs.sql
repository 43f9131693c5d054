-- The jobs that have some kinds and keys, each with the place of its key: live jobs, and
-- jobs that hold a key after their end.
SELECT o.key AS place, j.id, true AS live
FROM jsonb_each(:keys) AS o
CROSS JOIN hourbell_job AS j ON j.kind = o.value ->> 'Kind' AND j.unique_key = o.value ->> 'Unique'
UNION ALL
SELECT o.key, u.job_id, false
FROM jsonb_each(:keys) AS o
CROSS JOIN hourbell_key_hold AS u ON u.kind = o.value ->> 'Kind' AND u.unique_key = o.value ->> 'Unique'
WHERE u.until > :now AND NOT EXISTS (SELECT 1 FROM hourbell_job AS j WHERE j.kind = u.kind AND j.unique_key = u.unique_key)
