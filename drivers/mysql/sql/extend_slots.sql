-- statement ExtendSlots
-- Extends records of slots.
UPDATE JSON_TABLE(:slots, '$[*]' COLUMNS (id BIGINT PATH '$.id', last BIGINT PATH '$.last', count BIGINT PATH '$.count')) AS o
STRAIGHT_JOIN hourbell_slot AS r FORCE INDEX (PRIMARY) ON r.id = o.id
SET r.last = {at(o.last)}, r.count = r.count + o.count, r.recorded_at = {at(:now)}
