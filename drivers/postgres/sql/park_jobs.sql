-- statement parkJobs, takes now limit
-- Parks due jobs of paused groups, at most :limit, out of the index from which claims are
-- made. A pause that another transaction changes is left for later, and keeps its jobs where
-- they are; the others do not end before the transaction does. Jobs that others lock are left. Jobs that wait in lanes
-- leave the lanes.
WITH active AS MATERIALIZED (
    SELECT p.name FROM {schema}.pause AS p
    WHERE p.subject = 0 AND coalesce(p.until > coalesce(:now::timestamptz, now()), true) AND EXISTS (
        SELECT FROM {schema}.job AS j
        WHERE j.group_name = p.name AND j.state IN (0, -2, -3) AND j.run_at <= coalesce(:now::timestamptz, now()) AND NOT j.running)
    ORDER BY p.name FOR SHARE SKIP LOCKED
)
UPDATE {schema}.job SET state = -1, lane = NULL
WHERE ctid = ANY (ARRAY(
    SELECT due.ctid FROM active CROSS JOIN unnest(ARRAY[0, -2, -3]) AS s (state), LATERAL (
        SELECT j.ctid FROM {schema}.job AS j
        WHERE j.group_name = active.name AND j.state = s.state AND j.run_at <= coalesce(:now::timestamptz, now()) AND NOT j.running
        ORDER BY j.run_at LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT :limit::bigint))
