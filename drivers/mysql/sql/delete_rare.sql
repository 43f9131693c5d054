-- Deletes the rows that live jobs have in hourbell_job_rare, before the jobs are deleted.
DELETE r FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id AND j.rare = 1
STRAIGHT_JOIN hourbell_job_rare AS r FORCE INDEX (PRIMARY) ON r.job_id = j.id
