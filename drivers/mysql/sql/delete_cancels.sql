-- statement DeleteCancels
-- Deletes the cancel requests of jobs.
DELETE c FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_cancel_request AS c FORCE INDEX (PRIMARY) ON c.job_id = o.id
