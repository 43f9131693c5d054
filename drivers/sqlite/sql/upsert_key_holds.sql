-- statement UpsertKeyHolds
-- Stores holds of keys. A hold of the same key has expired and is replaced.
INSERT INTO hourbell_key_hold (kind, unique_key, job_id, until)
SELECT o.value ->> 'Kind', o.value ->> 'Unique', o.value ->> 'ID', o.value ->> 'Until'
FROM jsonb_each(:holds) AS o
WHERE true
ON CONFLICT (kind, unique_key) DO UPDATE SET job_id = excluded.job_id, until = excluded.until
