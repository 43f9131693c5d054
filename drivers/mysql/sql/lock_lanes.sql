-- statement LockLanes, returns id limit_id key used starts waiting tat not_before look_at
-- statement lockFreeLanes, given nowait, returns id limit_id key used starts waiting tat not_before look_at
-- Locks lanes, in the order of the list. A claim does not wait for them.
SELECT l.id, l.limit_id, l.`key`, l.used, l.starts, l.waiting, {micros(l.tat)} AS tat, {micros(l.not_before)} AS not_before, {micros(l.look_at)} AS look_at
FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS i) AS o
STRAIGHT_JOIN hourbell_lane AS l FORCE INDEX (PRIMARY) ON l.id = o.id
FOR UPDATE
NOWAIT -- if nowait
