-- Nodes, greatest number first.
SELECT n.id, n.name, n.version, n.host, n.labels, n.queues, n.kinds, n.lease, {micros(n.started_at)} AS started_at, {micros(n.seen_at)} AS seen_at,
  {micros(n.ended_at)} AS ended_at, n.died, (SELECT COUNT(*) FROM hourbell_job AS j WHERE j.node = n.id AND j.state = 2) AS running
FROM hourbell_node AS n
ORDER BY n.id DESC
