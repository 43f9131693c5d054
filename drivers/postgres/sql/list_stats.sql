-- statement listStats, takes span since to, returns at writer data
-- Rows of statistics of a span.
SELECT at, writer, data FROM {schema}.stats
WHERE span = :span::integer AND at >= :since::timestamptz AND at < :to::timestamptz
ORDER BY at, writer
