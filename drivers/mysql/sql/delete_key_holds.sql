-- shared statement deleteKeyHolds
-- Deletes the holds of jobs that are deleted, too.
DELETE u FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_key_hold AS u FORCE INDEX (hourbell_key_hold_job) ON u.job_id = o.id
