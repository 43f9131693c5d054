-- shared statement deleteJobs
-- Deletes live jobs.
DELETE j FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
