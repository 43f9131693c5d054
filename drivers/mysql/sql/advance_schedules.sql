-- statement AdvanceSchedules
-- Moves mark and next_at of schedules, and counts their fired slots.
UPDATE JSON_TABLE(:schedules, '$[*]' COLUMNS (id BIGINT PATH '$.id', mark BIGINT PATH '$.mark', next_at BIGINT PATH '$.next_at', fired BIGINT PATH '$.fired')) AS o
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (PRIMARY) ON s.id = o.id
SET s.mark = {at(o.mark)}, s.next_at = {at(o.next_at)}, s.fired = s.fired + o.fired
