-- statement listLimits, takes names now most, returns limitColumns in_use waiting keys
-- Limits by name, in byte order, with what they hold. Of a limit of a whole queue, the jobs that wait are the due jobs of its
-- queue, and of its places, that no node has claimed: their queues are between NAME@ and NAMEA. At most :most waiting jobs are counted. Permits
-- that were given back and are not passed on yet are not in use.
WITH given AS MATERIALIZED (
    SELECT p.lane, count(*) AS permits FROM {schema}.vacancy AS v, unnest(v.lanes) AS p (lane) WHERE p.lane > 0 GROUP BY p.lane
)
SELECT {l.limit_columns},
    CASE WHEN whole THEN (SELECT coalesce(sum(p.permits), 0) FROM {schema}.node_permit AS p WHERE p.limit_id = l.id)
        ELSE (SELECT coalesce(sum(n.used), 0) FROM {schema}.lane AS n WHERE n.limit_id = l.id)
            - (SELECT coalesce(sum(g.permits), 0) FROM given AS g JOIN {schema}.lane AS n ON n.id = g.lane WHERE n.limit_id = l.id)
        END AS in_use,
    CASE WHEN whole THEN (SELECT count(*) FROM (
            SELECT FROM generate_series(1, 9) AS p (priority), LATERAL (
                SELECT FROM {schema}.job AS j
                WHERE j.state = 0 AND j.queue = l.queue AND j.priority = p.priority AND j.run_at <= coalesce(:now::timestamptz, now()) AND NOT j.running
                LIMIT :most::bigint) AS due
            UNION ALL
            SELECT FROM {schema}.job AS j
            WHERE j.state = 0 AND j.queue >= l.queue || '@' AND j.queue < l.queue || 'A' AND j.run_at <= coalesce(:now::timestamptz, now()) AND NOT j.running
            LIMIT :most::bigint) AS counted)
        ELSE (SELECT count(*) FROM (
            SELECT FROM {schema}.lane AS n JOIN {schema}.job AS j ON j.lane = n.id WHERE n.limit_id = l.id
            LIMIT :most::bigint) AS counted) END AS waiting,
    (SELECT count(*) FROM {schema}.lane AS n LEFT JOIN given AS g ON g.lane = n.id WHERE n.limit_id = l.id
        AND (n.used > coalesce(g.permits, 0) OR EXISTS (SELECT FROM {schema}.job AS j WHERE j.lane = n.id))) AS keys
FROM {schema}.job_limit AS l, LATERAL (SELECT l.kind = '' AND NOT l.by_key AS whole) AS w
WHERE l.ended_at IS NULL AND (:names::text[] IS NULL OR l.name = ANY (:names))
ORDER BY l.name
