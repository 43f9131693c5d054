-- statement FindJobPermits, returns id permits
-- The permits of jobs, which are locked.
SELECT j.id, j.permits FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS i) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id WHERE j.permits IS NOT NULL FOR UPDATE
