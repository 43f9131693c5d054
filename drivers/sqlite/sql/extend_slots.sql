-- statement ExtendSlots
-- Extends records of slots.
UPDATE hourbell_slot AS r
SET last = o.last, count = r.count + o.count, recorded_at = :now
FROM (SELECT value ->> 'id' AS id, value ->> 'last' AS last, value ->> 'count' AS count FROM jsonb_each(:slots)) AS o
WHERE r.id = o.id
