-- statement listKinds, takes now, returns kind ready scheduled running waiting oldest
-- The live jobs of each kind, counted.
SELECT kind,
    {live_counts(:now::timestamptz)},
    min(run_at) FILTER (WHERE {due(:now::timestamptz)}) AS oldest
FROM {schema}.job GROUP BY kind ORDER BY kind
