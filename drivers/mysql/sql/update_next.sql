-- statement UpdateNext
-- Sets when schedules are due.
UPDATE JSON_TABLE(:schedules, '$[*]' COLUMNS (id BIGINT PATH '$.id', next_at BIGINT PATH '$.next_at')) AS o
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (PRIMARY) ON s.id = o.id
SET s.next_at = {at(o.next_at)}
