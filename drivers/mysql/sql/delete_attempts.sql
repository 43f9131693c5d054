-- shared statement deleteAttempts
-- Deletes the attempts of jobs.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_attempt AS t FORCE INDEX (PRIMARY) ON t.job_id = o.id
