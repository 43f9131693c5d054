-- statement lockParkedJobs, given parked, returns id
-- statement lockUnparkedJobs, given unparked, returns id
-- Locks jobs that no node has claimed, parked or not parked, without jobs that others have locked.
SELECT j.id FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS i) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.state IN (0, -2, -3)               -- if unparked
WHERE j.state = -1                         -- if parked
FOR UPDATE SKIP LOCKED
