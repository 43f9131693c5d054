-- statement findIdlePermits, returns id
-- Jobs that hold permits, that no node has claimed and that no living node runs, also parked jobs, and such jobs at the head of lanes: at most :limit of
-- each. A place has a queue of its own.
WITH served (queue, kind) AS MATERIALIZED (
  SELECT DISTINCT q.value || p.place, k.value
  FROM hourbell_node AS n CROSS JOIN json_each(n.queues) AS q CROSS JOIN json_each(n.kinds) AS k CROSS JOIN (
    SELECT id, '' AS place FROM hourbell_node WHERE ended_at IS NULL
    UNION ALL
    SELECT id, '@' || host FROM hourbell_node WHERE ended_at IS NULL
    UNION ALL
    SELECT m.id, '@' || l.value FROM hourbell_node AS m CROSS JOIN json_each(m.labels) AS l WHERE m.ended_at IS NULL) AS p ON p.id = n.id
  WHERE n.ended_at IS NULL)
SELECT id FROM (
  SELECT j.id FROM hourbell_job AS j
  WHERE j.permits IS NOT NULL AND j.state IN (0, -1) AND (j.queue, j.kind) NOT IN (SELECT queue, kind FROM served)
  ORDER BY j.id LIMIT +:limit)
UNION ALL
SELECT id FROM (
  SELECT w.id FROM hourbell_lane AS l
    CROSS JOIN hourbell_job AS f ON f.id = (SELECT id FROM hourbell_job WHERE lane = l.id ORDER BY priority, state, run_at, id LIMIT 1)
    CROSS JOIN hourbell_job AS w ON w.id IN (SELECT id FROM hourbell_job WHERE lane = l.id ORDER BY priority, state, run_at, id LIMIT 100)
  WHERE l.waiting AND (f.queue, f.kind) NOT IN (SELECT queue, kind FROM served) AND (w.queue, w.kind) NOT IN (SELECT queue, kind FROM served)
  LIMIT +:limit)
