-- shared statement findLaneKeys, returns limit_id key id
-- The numbers of lanes.
SELECT l.limit_id, l.`key`, l.id
FROM JSON_TABLE(:lanes, '$[*]' COLUMNS (limit_id BIGINT PATH '$.limit', lane_key VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.key')) AS o
STRAIGHT_JOIN hourbell_lane AS l FORCE INDEX (hourbell_lane_of) ON l.limit_id = o.limit_id AND l.`key` = o.lane_key COLLATE {bin}
