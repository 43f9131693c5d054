-- statement findOccupiedLanes, takes ids, returns id
-- The lanes among these in which jobs wait, also jobs that others have locked.
SELECT o.id FROM unnest(:ids::bigint[]) AS o (id) WHERE EXISTS (SELECT FROM {schema}.job AS j WHERE j.lane = o.id OFFSET 0)
