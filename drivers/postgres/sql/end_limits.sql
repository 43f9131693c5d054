-- statement endLimits, takes now ids
-- Ends limits. Their rows stay until their lanes are empty.
UPDATE {schema}.job_limit SET ended_at = coalesce(:now::timestamptz, now()) WHERE id = ANY (:ids::bigint[])
