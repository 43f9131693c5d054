-- shared statement findAnswered, returns id
-- The jobs, which are locked, whose steps are not open any more.
SELECT s.job_id AS id
FROM JSON_TABLE(:waits, '$[*]' COLUMNS (id BIGINT PATH '$.id', name VARCHAR(200) CHARACTER SET utf8mb4 PATH '$.name')) AS o
STRAIGHT_JOIN hourbell_step AS s FORCE INDEX (PRIMARY) ON s.job_id = o.id AND s.name = o.name
WHERE NOT s.waits
