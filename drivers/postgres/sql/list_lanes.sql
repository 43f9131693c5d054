-- statement listLanes, takes limits lanes candidates most now, returns limit_id key used waiting starts tat not_before now
-- The lanes of limits in which most jobs wait, at most :lanes of each limit, among the :candidates lanes of the limit with the
-- most permits in use. At most :most waiting jobs of a lane are counted. Permits that were given back and are not passed on yet are not in use.
WITH given AS MATERIALIZED (
    SELECT p.lane, count(*) AS permits FROM {schema}.vacancy AS v, unnest(v.lanes) AS p (lane) WHERE p.lane > 0 GROUP BY p.lane
)
SELECT l.limit_id, n.key, n.used, n.waiting, n.starts, n.tat, n.not_before, coalesce(:now::timestamptz, now()) AS now
FROM unnest(:limits::bigint[]) AS l (limit_id), LATERAL (
    SELECT c.key, c.used - coalesce(g.permits, 0) AS used, c.starts, c.tat, c.not_before, (SELECT count(*) FROM (
        SELECT FROM {schema}.job AS j WHERE j.lane = c.id LIMIT :most::bigint) AS counted) AS waiting
    FROM (SELECT id, key, used, starts, tat, not_before FROM {schema}.lane AS a WHERE a.limit_id = l.limit_id ORDER BY a.used DESC, a.id LIMIT :candidates::bigint) AS c
    LEFT JOIN given AS g ON g.lane = c.id
    ORDER BY waiting DESC, used DESC, c.key LIMIT :lanes::bigint) AS n
WHERE n.used > 0 OR n.waiting > 0 OR n.not_before > coalesce(:now::timestamptz, now())
ORDER BY l.limit_id, n.waiting DESC, n.used DESC, n.key
