-- statement findLimitWaits, takes now most ids, returns job_id limit_id key in_use starts tat not_before now before
-- Why limits let jobs wait: of a job in a lane, the lane and how many jobs are before it, at most :most; of a due job of a
-- queue that has a limit as a whole, the permits that nodes hold.
SELECT j.id AS job_id, n.limit_id, n.key, n.used AS in_use, n.starts, n.tat, n.not_before, coalesce(:now::timestamptz, now()) AS now,
    (SELECT count(*) FROM (SELECT FROM {schema}.job AS o
        WHERE o.lane = j.lane AND (o.priority, o.state, o.run_at, o.id) < (j.priority, j.state, j.run_at, j.id) LIMIT :most::bigint) AS counted) AS before
FROM {schema}.job AS j JOIN {schema}.lane AS n ON n.id = j.lane
WHERE j.id = ANY (ARRAY(SELECT unnest(:ids::bigint[]))) AND j.lane IS NOT NULL
UNION ALL
SELECT j.id, l.id, '', (SELECT coalesce(sum(p.permits), 0)::integer FROM {schema}.node_permit AS p WHERE p.limit_id = l.id),
    coalesce(n.starts, 0), n.tat, n.not_before, coalesce(:now::timestamptz, now()), 0
FROM {schema}.job_limit AS l
    JOIN {schema}.job AS j ON {in_queue(j.queue, l.queue)}
    LEFT JOIN {schema}.lane AS n ON n.limit_id = l.id AND n.key = ''
WHERE j.id = ANY (ARRAY(SELECT unnest(:ids::bigint[]))) AND j.state = 0 AND NOT j.running AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL
ORDER BY job_id, limit_id
