-- statement PruneBatches, given prune
-- statement findOldBatches, given look, returns id
-- Deletes batches whose jobs are gone, the oldest first.
SELECT id FROM hourbell_batch -- if look
DELETE FROM hourbell_batch    -- if prune
WHERE created_at < {at(:before)} AND (SELECT j.job_id FROM hourbell_job_rare AS j WHERE j.batch = hourbell_batch.id LIMIT 1) IS NULL
  AND (SELECT h.id FROM hourbell_history AS h WHERE h.batch = hourbell_batch.id LIMIT 1) IS NULL
ORDER BY id LIMIT :limit
