-- statement ParkJobs
-- Parks jobs, which are locked. Jobs that wait in lanes leave the lanes.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id SET j.state = -1, j.lane = NULL
