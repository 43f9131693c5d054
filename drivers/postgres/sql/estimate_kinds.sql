-- statement estimateKinds, takes shares numbers, returns kind ready scheduled running waiting oldest part
-- The live jobs of each kind, counted in samples as in estimate_queues.sql. part is which part of
-- all numbers the samples have.
WITH span AS (
    {span(job)}
), samples AS (
    {samples(span)}
)
SELECT j.kind,
    {live_counts(NULL::timestamptz)},
    min(run_at) FILTER (WHERE {due(NULL::timestamptz)}) AS oldest,
    {part(samples, span)} AS part
FROM samples AS s, LATERAL (
    SELECT kind, state, running, run_at FROM {schema}.job WHERE id >= s.from_id AND id < s.to_id OFFSET 0
) AS j
GROUP BY j.kind ORDER BY j.kind
