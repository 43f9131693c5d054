-- statement ListStats, returns at writer data
-- Rows of statistics of a span.
SELECT {micros(at)} AS at, writer, data FROM hourbell_stats AS s
WHERE s.span = :span AND s.at >= {at(:since)} AND s.at < {at(:before)} ORDER BY s.at, writer
