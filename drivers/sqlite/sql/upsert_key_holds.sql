-- shared statement upsertKeyHolds
-- Stores holds of keys. A hold of the same key has expired and is replaced.
INSERT INTO hourbell_key_hold (kind, unique_key, job_id, until)
SELECT o.value ->> 'kind', o.value ->> 'unique', o.value ->> 'id', o.value ->> 'until'
FROM jsonb_each(:rows) AS o
WHERE true
ON CONFLICT (kind, unique_key) DO UPDATE SET job_id = excluded.job_id, until = excluded.until
