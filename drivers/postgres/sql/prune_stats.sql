-- statement pruneStats, takes now span keep
-- Deletes old rows of statistics of a span.
DELETE FROM {schema}.stats
WHERE span = :span::integer AND at < coalesce(:now::timestamptz, now()) - :keep::bigint * interval '1 microsecond'
