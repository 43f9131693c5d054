-- statement unparkJobs, takes names limit
-- Makes parked jobs of groups claimable, at most :limit of them. Jobs that others lock are left.
UPDATE {schema}.job SET state = 0
WHERE ctid = ANY (ARRAY(
    SELECT due.ctid FROM unnest(:names::text[]) AS g (name), LATERAL (
        SELECT j.ctid FROM {schema}.job AS j
        WHERE j.group_name = g.name AND j.state = -1
        ORDER BY j.run_at LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT :limit::bigint))
