-- shared statement deleteOutput
-- Deletes the stored output of attempts that end.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_output AS t FORCE INDEX (PRIMARY) ON t.job_id = o.id
