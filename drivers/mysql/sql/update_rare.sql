-- Brings rows of hourbell_job_rare up to date with their jobs, which have been changed. Jobs without such a row are not looked for there,
-- because a program's transaction, which may be REPEATABLE READ, would lock the gap.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id AND j.rare = 1
STRAIGHT_JOIN hourbell_job_rare AS r FORCE INDEX (PRIMARY) ON r.job_id = j.id
SET {r.rare_columns = j.rare_columns}, r.unique_kind = IF(j.unique_key IS NULL, NULL, j.kind)
