-- Deletes holds of keys that have expired.
DELETE FROM hourbell_key_hold WHERE until <= {at(:now)} ORDER BY until LIMIT :limit
