-- statement estimateQueues, takes shares numbers, returns queue ready scheduled running waiting oldest part
-- The live jobs of each queue, counted in samples that are spread over all numbers: :shares samples of
-- at most :numbers numbers each. part is which part of all numbers the samples have. The heads of
-- job_ready have the queues with ready or running jobs, and the oldest due job of each.
WITH RECURSIVE names AS (
    (SELECT queue FROM {schema}.job WHERE state = 0 ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT (SELECT j.queue FROM {schema}.job AS j WHERE j.state = 0 AND j.queue > n.queue ORDER BY j.queue LIMIT 1)
    FROM names AS n WHERE n.queue IS NOT NULL
), heads AS (
    SELECT n.queue, (
        SELECT min(h.run_at) FROM generate_series(1, 9) AS p (priority), LATERAL (
            SELECT j.run_at FROM {schema}.job AS j
            WHERE j.state = 0 AND j.queue = n.queue AND j.priority = p.priority AND j.run_at <= now() AND NOT j.running
            ORDER BY j.run_at, j.id LIMIT 1
        ) AS h
    ) AS oldest
    FROM names AS n WHERE n.queue IS NOT NULL
), span AS (
    {span(job)}
), samples AS (
    {samples(span)}
), counted AS (
    SELECT j.queue,
        {live_counts(NULL::timestamptz)}
    FROM samples AS s, LATERAL (
        SELECT queue, state, running, run_at FROM {schema}.job WHERE id >= s.from_id AND id < s.to_id OFFSET 0
    ) AS j
    GROUP BY j.queue
)
SELECT queue, coalesce(c.ready, 0) AS ready, coalesce(c.scheduled, 0) AS scheduled, coalesce(c.running, 0) AS running,
    coalesce(c.waiting, 0) AS waiting, h.oldest, {part(samples, span)} AS part
FROM counted AS c FULL JOIN heads AS h USING (queue)
ORDER BY queue
