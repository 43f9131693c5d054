-- statement upsertKeyHolds, takes now ids holds kind unique_key, returns ids
-- Lets jobs, which the transaction has inserted, hold their keys, in the order of the keys,
-- and returns their numbers in one row. A hold that has expired is replaced. A job whose
-- key another job still holds is missing: that hold was committed after the statement
-- began that inserted the job.
WITH held AS (
    INSERT INTO {schema}.key_hold AS u (job_id, until, kind, unique_key)
    SELECT o.id, coalesce(:now::timestamptz, now()) + o.hold * interval '1 microsecond', o.kind, o.unique_key
    FROM unnest(:ids::bigint[], :holds::bigint[], :kind::text[], :unique_key::text[]) AS o (id, hold, kind, unique_key)
    ORDER BY o.kind COLLATE "C", o.unique_key COLLATE "C"
    ON CONFLICT (kind, unique_key) DO UPDATE SET job_id = excluded.job_id, until = excluded.until
        WHERE u.until <= coalesce(:now::timestamptz, now())
    RETURNING job_id
)
SELECT coalesce(array_agg(job_id), '{}')::text AS ids FROM held
