-- The live jobs of each kind, counted in samples as in estimate_queues.sql. part is which part of
-- all numbers the samples have.
WITH span AS (
    SELECT min(id) AS first, max(id) - min(id) + 1 AS numbers FROM {schema}.job
), samples AS (
    SELECT r.first + r.numbers * s / :shares::bigint AS from_id,
        r.first + least(r.numbers * s / :shares + :numbers::bigint, r.numbers * (s + 1) / :shares) AS to_id
    FROM span AS r, generate_series(0, :shares - 1) AS s
)
SELECT j.kind,
    count(*) FILTER (WHERE j.state <= 0 AND NOT j.running AND j.run_at <= now()) AS ready,
    count(*) FILTER (WHERE j.state <= 0 AND NOT j.running AND j.run_at > now()) AS scheduled,
    count(*) FILTER (WHERE j.running) AS running,
    count(*) FILTER (WHERE j.state = 1) AS waiting,
    min(j.run_at) FILTER (WHERE j.state <= 0 AND NOT j.running AND j.run_at <= now()) AS oldest,
    (SELECT sum(s.to_id - s.from_id)::float8 FROM samples AS s) / (SELECT r.numbers FROM span AS r) AS part
FROM samples AS s, LATERAL (
    SELECT kind, state, running, run_at FROM {schema}.job WHERE id >= s.from_id AND id < s.to_id OFFSET 0
) AS j
GROUP BY j.kind ORDER BY j.kind
