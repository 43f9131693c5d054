-- Deletes the oldest records of slots.
DELETE FROM hourbell_slot WHERE recorded_at < {at(:before)} ORDER BY recorded_at, id LIMIT :limit
