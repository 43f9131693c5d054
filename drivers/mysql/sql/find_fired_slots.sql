-- statement FindFiredSlots, returns place
-- Slots that have fired already. The mark of their schedule was moved back since.
SELECT o.place - 1 AS place
FROM JSON_TABLE(:slots, '$[*]' COLUMNS (place FOR ORDINALITY, schedule BIGINT PATH '$.schedule', slot BIGINT PATH '$.slot')) AS o
WHERE EXISTS (SELECT 1 FROM hourbell_slot AS r FORCE INDEX (hourbell_slot_fired) WHERE r.schedule_id = o.schedule AND r.fired_slot = {at(o.slot)} {share})
