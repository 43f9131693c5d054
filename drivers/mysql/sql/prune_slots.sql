-- statement PruneSlots, given prune
-- statement findOldSlots, given look, returns id
-- Deletes the oldest records of slots.
SELECT id FROM hourbell_slot -- if look
DELETE FROM hourbell_slot    -- if prune
WHERE recorded_at < {at(:before)} ORDER BY recorded_at, id LIMIT :limit
