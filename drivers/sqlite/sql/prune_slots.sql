-- statement PruneSlots
-- Deletes the oldest records of slots.
DELETE FROM hourbell_slot WHERE id IN (
  SELECT id FROM hourbell_slot WHERE recorded_at < :before
  ORDER BY recorded_at, id
  LIMIT +:limit)
