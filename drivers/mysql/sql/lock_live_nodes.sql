-- The nodes that have not ended. With locks, only some nodes: no other node has to wait.
SELECT id, name, version, host, labels, queues, kinds, lease, {micros(started_at)} AS started_at, {micros(seen_at)} AS seen_at,
  {micros(ended_at)} AS ended_at, died, 0 AS running
FROM hourbell_node
  FORCE INDEX (PRIMARY)                                                             -- if lock
WHERE ended_at IS NULL
  AND id IN (:nodes)                                                                -- if lock
ORDER BY id
FOR UPDATE -- if lock
