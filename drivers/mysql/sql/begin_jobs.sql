-- statement BeginJobs
-- Records that claims of a node may begin.
UPDATE JSON_TABLE(:claims, '$[*]' COLUMNS (id BIGINT PATH '$.id', token BIGINT PATH '$.token')) AS c
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = c.id
SET j.begun = 1
WHERE j.token = c.token AND j.state = 2 AND j.node = :node
