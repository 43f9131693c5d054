-- Takes permits from jobs, and lets jobs leave the lanes in which they wait.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id SET j.permits = NULL, j.lane = NULL, j.state = 0
