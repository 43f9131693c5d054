-- shared statement lockHostNodes, returns living ended copies
-- Counts the nodes of a host that live or hold jobs, its other nodes, and the copies that it declared.
SELECT COALESCE(SUM(n.ended_at IS NULL OR n.look_at IS NOT NULL), 0) AS living, COALESCE(SUM(n.ended_at IS NOT NULL AND n.look_at IS NULL), 0) AS ended,
  (SELECT COUNT(*) FROM hourbell_copy AS c WHERE c.host = :host) AS copies
FROM hourbell_node AS n WHERE n.host = :host
FOR UPDATE
