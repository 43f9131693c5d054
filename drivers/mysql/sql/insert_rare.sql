-- statement insertRare, given new
-- statement insertMissingRare, given plain
-- Gives live jobs their rows in hourbell_job_rare.
INSERT INTO hourbell_job_rare (job_id, {rare_columns}, unique_kind)
SELECT j.id, {j.rare_columns}, IF(j.unique_key IS NULL, NULL, j.kind)
FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.rare = 1 -- if new
WHERE j.rare = 0 -- if plain
