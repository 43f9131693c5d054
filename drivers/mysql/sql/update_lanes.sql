-- shared statement updateLanes
-- Changes lanes.
UPDATE JSON_TABLE(:lanes, '$[*]' COLUMNS (id BIGINT PATH '$.id', used BIGINT PATH '$.used', starts BIGINT PATH '$.starts', waiting SMALLINT PATH '$.waiting',
  tat BIGINT PATH '$.tat', not_before BIGINT PATH '$.not_before', look_at BIGINT PATH '$.look_at')) AS o
STRAIGHT_JOIN hourbell_lane AS l FORCE INDEX (PRIMARY) ON l.id = o.id
SET l.used = o.used, l.starts = o.starts, l.waiting = o.waiting, l.tat = {at(o.tat)}, l.not_before = {at(o.not_before)}, l.look_at = {at(o.look_at)}
