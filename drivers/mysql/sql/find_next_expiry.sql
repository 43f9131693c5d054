-- When the first lease of another node expires, or when jobs that were left to open transactions are to be looked
-- at again.
SELECT MIN(o.next_expiry) AS next_expiry
FROM (SELECT MIN({micros(seen_at)} + lease) AS next_expiry FROM hourbell_node WHERE ended_at IS NULL AND id <> :node
  UNION ALL
  SELECT {micros(MIN(look_at))} FROM hourbell_node FORCE INDEX (hourbell_node_look) WHERE look_at IS NOT NULL) AS o
