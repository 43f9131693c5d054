-- shared statement upsertStats
-- Stores a row of statistics of a writer.
INSERT INTO hourbell_stats (span, at, writer, data) VALUES (:span, :at, :writer, :bytes)
ON CONFLICT (span, at, writer) DO UPDATE SET data = excluded.data
