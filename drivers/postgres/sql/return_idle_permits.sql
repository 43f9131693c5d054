-- statement returnIdlePermits, takes limit
-- Takes permits from jobs that no living node runs, and lets such jobs at the head of lanes leave them, without jobs that others
-- have locked: at most :limit of each. A parked job stays parked: after a retry under a strict limit, it may hold its permit. The permits are given back by a row in vacancy. A place has a queue of its own.
WITH served AS MATERIALIZED (
    SELECT DISTINCT q.name || p.place AS queue, k.name AS kind
    FROM {schema}.heartbeat AS h JOIN {schema}.node AS n ON n.id = h.node,
        unnest(n.queues) AS q (name), unnest(ARRAY[''] || ARRAY(SELECT '@' || place FROM unnest(n.host || n.labels) AS place)) AS p (place), unnest(n.kinds) AS k (name)
), idle AS MATERIALIZED (
    SELECT j.id, j.permits FROM {schema}.job AS j
    WHERE j.permits IS NOT NULL AND j.state IN (0, -1) AND NOT j.running AND (j.queue, j.kind) NOT IN (SELECT queue, kind FROM served)
    ORDER BY j.id LIMIT :limit::bigint
    FOR UPDATE OF j SKIP LOCKED
), heads AS MATERIALIZED (
    SELECT w.id FROM {schema}.lane AS l, LATERAL (
        SELECT j.queue, j.kind FROM {schema}.job AS j WHERE j.lane = l.id ORDER BY j.priority, j.state, j.run_at, j.id LIMIT 1
    ) AS head, LATERAL (
        SELECT j.id, j.queue, j.kind FROM {schema}.job AS j WHERE j.lane = l.id ORDER BY j.priority, j.state, j.run_at, j.id LIMIT 100 FOR UPDATE SKIP LOCKED
    ) AS w
    WHERE l.waiting AND (head.queue, head.kind) NOT IN (SELECT queue, kind FROM served) AND (w.queue, w.kind) NOT IN (SELECT queue, kind FROM served)
    LIMIT :limit::bigint
), vacated AS (
    INSERT INTO {schema}.vacancy (lanes)
    SELECT array_agg(p.lane) FROM idle, unnest(permits) AS p (lane) HAVING count(*) > 0
)
UPDATE {schema}.job SET permits = NULL, lane = NULL, state = CASE WHEN state = -1 THEN -1 ELSE 0 END
WHERE id = ANY (ARRAY(SELECT id FROM idle UNION ALL SELECT id FROM heads))
