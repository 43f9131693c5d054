-- shared statement deleteProgress
-- Deletes the progress of jobs.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_progress AS t FORCE INDEX (PRIMARY) ON t.job_id = o.id
