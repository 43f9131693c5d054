-- statement PruneKeyHolds, given prune
-- statement findOldKeyHolds, given look, returns job_id
-- Deletes holds of keys that have expired.
SELECT job_id FROM hourbell_key_hold -- if look
DELETE FROM hourbell_key_hold        -- if prune
WHERE until <= {at(:now)} ORDER BY until LIMIT :limit
