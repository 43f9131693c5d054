-- shared statement findLiveNodes, returns NodeColumns
-- shared statement lockLiveNodes, given lock, returns NodeColumns
-- The nodes that have not ended. With locks, only some nodes: no other node has to wait. The row of a node is locked before its
-- heartbeat, so that heartbeats go on while the statement waits for a claim.
SELECT n.id, n.name, n.version, n.host, n.labels, n.queues, n.kinds, n.zones, n.problems, n.lease, {micros(n.started_at)} AS started_at,
  {micros(h.seen_at)} AS seen_at, {micros(n.ended_at)} AS ended_at, n.died, h.beats, 0 AS running
FROM hourbell_node AS n
  FORCE INDEX (PRIMARY)                                                             -- if lock
  STRAIGHT_JOIN hourbell_heartbeat AS h ON h.node = n.id
WHERE n.ended_at IS NULL
  AND n.id IN (:nodes)                                                              -- if lock
ORDER BY n.id
FOR UPDATE -- if lock
