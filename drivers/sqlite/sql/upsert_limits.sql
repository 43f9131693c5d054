-- statement UpsertLimits
-- Creates limits, or changes limits whose scope stays.
INSERT INTO hourbell_job_limit (id, name, owner, revision, queue, kind, by_key, concurrency, rate, per, burst, weights, strict, created_at, updated_at)
SELECT value ->> 'id', value ->> 'name', value ->> 'owner', value ->> 'revision', value ->> 'queue', value ->> 'kind', value ->> 'by_key',
  value ->> 'concurrency', value ->> 'rate', value ->> 'per', value ->> 'burst', value ->> 'weights', value ->> 'strict',
  coalesce(value ->> 'created_at', value ->> 'now'), value ->> 'now'
FROM json_each(:rows)
WHERE true -- so that ON is not parsed as a join condition
ON CONFLICT (id) DO UPDATE SET
  owner = excluded.owner, revision = excluded.revision, concurrency = excluded.concurrency, rate = excluded.rate, per = excluded.per,
  burst = excluded.burst, weights = excluded.weights, strict = excluded.strict, updated_at = excluded.updated_at
