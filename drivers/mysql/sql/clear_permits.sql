-- statement ClearPermits
-- Takes permits from jobs, and lets jobs leave the lanes in which they wait. A parked job stays parked.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id SET j.permits = NULL, j.lane = NULL, j.state = CASE WHEN j.state = -1 THEN -1 ELSE 0 END
