-- statement FindNextExpiry, returns next_expiry
-- When the first lease of another node expires, or when jobs that were left to open transactions are to be looked
-- at again.
SELECT MIN(o.next_expiry) AS next_expiry
FROM (SELECT MIN({micros(h.seen_at)} + n.lease) AS next_expiry
  FROM hourbell_node AS n STRAIGHT_JOIN hourbell_heartbeat AS h ON h.node = n.id WHERE n.ended_at IS NULL AND n.id <> :node
  UNION ALL
  SELECT {micros(MIN(look_at))} FROM hourbell_node FORCE INDEX (hourbell_node_look) WHERE look_at IS NOT NULL) AS o
