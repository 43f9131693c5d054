-- shared statement upsertKeyHolds
-- Stores holds of keys. A hold of the same key has expired and is replaced.
INSERT INTO hourbell_key_hold (kind, unique_key, job_id, until)
VALUES
(:kind, :unique, :id, {at(:until)})
ON DUPLICATE KEY UPDATE job_id = VALUES(job_id), until = VALUES(until)
