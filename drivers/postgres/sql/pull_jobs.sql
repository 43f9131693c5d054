-- Makes resting jobs, which are locked, due now.
UPDATE {schema}.job SET run_at = coalesce($1::timestamptz, now())
WHERE id = ANY ($2::bigint[])
