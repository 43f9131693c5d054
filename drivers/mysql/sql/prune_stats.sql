-- statement PruneStats
-- Deletes old rows of statistics of a span.
DELETE FROM hourbell_stats WHERE span = :span AND at < {at(:before)}
