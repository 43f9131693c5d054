-- The nodes that have not ended.
SELECT id, name, version, host, labels, queues, kinds, lease, {micros(started_at)} AS started_at, {micros(seen_at)} AS seen_at,
  {micros(ended_at)} AS ended_at, died, 0 AS running
FROM hourbell_node WHERE ended_at IS NULL
ORDER BY id
FOR UPDATE -- if lock
