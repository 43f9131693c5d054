-- shared statement lockHostNodes, returns living ended copies
-- Counts the nodes of a host that live, its other nodes, and the copies that it declared.
SELECT coalesce(sum(ended_at IS NULL), 0) AS living, coalesce(sum(ended_at IS NOT NULL), 0) AS ended,
       (SELECT count(*) FROM hourbell_copy AS c WHERE c.host = :host) AS copies
FROM hourbell_node WHERE host = :host
