-- statement lockHostNodes, takes host, returns living ended copies
-- The nodes of a host, locked, and whether each of them lives or holds jobs. The copies are those that the host declared.
SELECT count(*) FILTER (WHERE n.ended_at IS NULL OR n.look_at IS NOT NULL) AS living,
    count(*) FILTER (WHERE n.ended_at IS NOT NULL AND n.look_at IS NULL) AS ended,
    (SELECT count(*) FROM {schema}.copy AS c WHERE c.host = :host) AS copies
FROM (SELECT ended_at, look_at FROM {schema}.node WHERE host = :host ORDER BY id FOR UPDATE) AS n
