-- statement listQueues, takes now, returns queue ready scheduled running waiting oldest
-- The live jobs of each queue, counted.
SELECT queue,
    {live_counts(:now::timestamptz)},
    min(run_at) FILTER (WHERE {due(:now::timestamptz)}) AS oldest
FROM {schema}.job GROUP BY queue ORDER BY queue
