-- shared statement lockPermittedJobs, returns id permits
-- Locks jobs that hold permits and that no node has claimed, without jobs that others have locked.
SELECT j.id, j.permits FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS i) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id WHERE j.permits IS NOT NULL AND j.state IN (0, -1) FOR UPDATE SKIP LOCKED
