-- shared statement insertBatch
-- Inserts a batch. :on is null for a batch without a last job.
INSERT INTO hourbell_batch (created_at, finally_on, finally_any) VALUES ({at(:now)}, :on, :any)
