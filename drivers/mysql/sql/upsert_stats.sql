-- shared statement upsertStats
-- Stores a row of statistics of a writer.
INSERT INTO hourbell_stats (span, at, writer, data) VALUES (:span, {at(:at)}, :writer, :bytes)
ON DUPLICATE KEY UPDATE data = VALUES(data)
