-- statement ListNodes, returns NodeColumns
-- Nodes, greatest number first.
SELECT n.id, n.name, n.version, n.host, n.labels, n.queues, n.kinds, n.zones, n.problems, n.lease, {micros(n.started_at)} AS started_at, {micros(COALESCE(h.seen_at, n.seen_at))} AS seen_at,
  {micros(n.ended_at)} AS ended_at, n.died,
  COALESCE(h.beats, 0) AS beats, COALESCE(r.jobs, 0) AS running
FROM hourbell_node AS n
  LEFT JOIN hourbell_heartbeat AS h ON h.node = n.id
  LEFT JOIN (SELECT j.node, COUNT(*) AS jobs FROM hourbell_job AS j FORCE INDEX (hourbell_job_ready) WHERE j.state = 2 GROUP BY j.node) AS r ON r.node = n.id
ORDER BY n.id DESC
