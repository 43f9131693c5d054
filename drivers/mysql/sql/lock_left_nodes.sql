-- statement lockLeftNodes, returns sqlrows.NodeColumns
-- Locks ended nodes whose jobs were left to open transactions and are to be looked at again, except nodes that
-- other transactions have locked.
SELECT id, name, version, host, labels, queues, kinds, zones, problems, lease, {micros(started_at)} AS started_at, {micros(seen_at)} AS seen_at,
  {micros(ended_at)} AS ended_at, died, 0 AS beats, 0 AS running
FROM hourbell_node FORCE INDEX (hourbell_node_look) WHERE look_at <= {at(:now)}
ORDER BY id
FOR UPDATE SKIP LOCKED
