-- shared statement upsertOutput
-- Stores blocks of the output of running jobs.
INSERT INTO hourbell_output (job_id, token, block, data)
VALUES
(:id, :token, :block, :data)
ON DUPLICATE KEY UPDATE data = VALUES(data)
