-- statement PruneBatches
-- Deletes batches whose jobs are gone, the oldest first.
DELETE FROM hourbell_batch WHERE id IN (
  SELECT b.id FROM hourbell_batch AS b
  WHERE b.created_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_job AS j WHERE j.batch = b.id)
    AND NOT EXISTS (SELECT 1 FROM hourbell_history AS h WHERE h.batch = b.id)
  ORDER BY b.id LIMIT +:limit)
