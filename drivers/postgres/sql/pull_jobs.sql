-- statement pullJobs, takes now ids most_ahead
-- Makes ready jobs, which are locked, due now, or at their slot if it is at most
-- :most_ahead microseconds away, and never later than they were.
UPDATE {schema}.job SET state = CASE WHEN lane IS NULL THEN state ELSE 0 END, lane = NULL, run_at = least(run_at, greatest(coalesce(:now::timestamptz, now()),
    CASE WHEN slot <= coalesce(:now::timestamptz, now()) + :most_ahead::bigint * interval '1 microsecond' THEN slot END))
WHERE id = ANY (:ids::bigint[])
