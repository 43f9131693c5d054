-- shared statement forgetSteps
-- Deletes steps of jobs, by their names.
DELETE s FROM JSON_TABLE(:steps, '$[*]' COLUMNS (id BIGINT PATH '$.id', name VARCHAR(200) CHARACTER SET utf8mb4 PATH '$.name')) AS o
STRAIGHT_JOIN hourbell_step AS s FORCE INDEX (PRIMARY) ON s.job_id = o.id AND s.name = o.name
