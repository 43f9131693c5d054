-- shared statement updateBatch
-- Stores which job is the last job of a batch.
UPDATE hourbell_batch SET finally_id = :finally WHERE id = :id
