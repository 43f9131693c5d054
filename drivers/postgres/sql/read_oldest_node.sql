-- statement readOldestNode, returns node
-- The oldest living node; 0: no node lives.
SELECT coalesce(min(node), 0) AS node FROM {schema}.heartbeat
