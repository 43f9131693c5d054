-- statement addPermits, takes ids lanes
-- Gives running jobs, which are locked, a further permit each.
UPDATE {schema}.job AS j SET permits = coalesce(j.permits, '{}') || o.lane
FROM unnest(:ids::bigint[], :lanes::bigint[]) AS o (id, lane) WHERE j.id = ANY (ARRAY[o.id])
