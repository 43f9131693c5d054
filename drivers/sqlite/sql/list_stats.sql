-- statement ListStats, returns at writer data
-- Rows of statistics of a span.
SELECT at, writer, data FROM hourbell_stats WHERE span = :span AND at >= :since AND at < :before ORDER BY at, writer
