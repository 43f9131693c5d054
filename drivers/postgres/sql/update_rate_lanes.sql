-- statement updateRateLanes, takes ids tats
-- Records the starts of jobs of a queue with rates.
UPDATE {schema}.lane AS x SET tat = u.tat
FROM unnest(:ids::bigint[], :tats::timestamptz[]) AS u (id, tat) WHERE x.id = u.id
