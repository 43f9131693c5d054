-- shared statement insertChain
-- Records which schedules follow which.
INSERT INTO hourbell_chain (predecessor, schedule_id)
SELECT o.predecessor, s.id
FROM JSON_TABLE(:edges, '$[*]' COLUMNS (predecessor VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.predecessor', schedule VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.schedule')) AS o
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (hourbell_schedule_name) ON s.name = o.schedule
