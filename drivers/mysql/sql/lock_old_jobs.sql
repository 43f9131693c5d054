-- statement lockOldJobs, returns id
-- Locks finished jobs, without jobs that others have locked.
SELECT h.id FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS i) AS o
STRAIGHT_JOIN hourbell_history AS h FORCE INDEX (PRIMARY) ON h.id = o.id FOR UPDATE SKIP LOCKED
