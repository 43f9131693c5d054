-- statement allotPermits, takes now ids states lanes held
-- Gives jobs, which are locked, permits, or lets them wait in lanes. A job that has waited is due now.
UPDATE {schema}.job AS j
SET state = o.state, lane = nullif(o.lane, 0), permits = nullif(o.permits, '')::bigint[],
    run_at = CASE WHEN j.lane IS NOT NULL AND o.lane = 0 THEN greatest(j.run_at, coalesce(:now::timestamptz, now())) ELSE j.run_at END
FROM unnest(:ids::bigint[], :states::smallint[], :lanes::bigint[], :held::text[]) AS o (id, state, lane, permits)
WHERE j.id = ANY (ARRAY[o.id])
