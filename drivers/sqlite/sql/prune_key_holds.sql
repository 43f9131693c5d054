-- statement PruneKeyHolds
-- Deletes holds of keys that have expired.
DELETE FROM hourbell_key_hold WHERE (kind, unique_key) IN (
  SELECT kind, unique_key FROM hourbell_key_hold WHERE until <= :now ORDER BY until LIMIT +:limit)
