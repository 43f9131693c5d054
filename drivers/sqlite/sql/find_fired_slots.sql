-- statement FindFiredSlots, returns place
-- Slots that have fired already. The mark of their schedule was moved back since.
SELECT o.key AS place
FROM jsonb_each(:slots) AS o
CROSS JOIN hourbell_slot AS r ON r.schedule_id = o.value ->> 'schedule' AND r.slot = o.value ->> 'slot' AND r.outcome = 0
