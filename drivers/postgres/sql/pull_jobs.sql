-- Makes resting jobs, which are locked, due now, or at their slot, if that is at
-- most $3 microseconds away; never later than they were.
UPDATE {schema}.job SET run_at = least(run_at, greatest(coalesce($1::timestamptz, now()),
    CASE WHEN slot <= coalesce($1::timestamptz, now()) + $3::bigint * interval '1 microsecond' THEN slot END))
WHERE id = ANY ($2::bigint[])
