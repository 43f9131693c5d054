-- shared statement deleteLanes
-- Deletes lanes, which are locked.
DELETE t FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_lane AS t FORCE INDEX (PRIMARY) ON t.id = o.id
