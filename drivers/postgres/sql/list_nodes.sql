-- statement listNodes, returns nodeColumns
-- Nodes, greatest number first.
SELECT n.id, n.name, n.version, n.host, n.labels, n.queues, n.kinds, n.zones, n.problems, n.lease, n.started_at, coalesce(h.seen_at, n.seen_at) AS seen_at, n.ended_at, n.died, coalesce(h.beats, 0) AS beats, coalesce(held.running, 0) AS running
FROM {schema}.node AS n
    LEFT JOIN {schema}.heartbeat AS h ON h.node = n.id
    LEFT JOIN (
        SELECT j.node, count(*) AS running FROM {schema}.job AS j
        WHERE j.id = ANY (ARRAY(SELECT unnest(ids) FROM {schema}.lease)) AND j.running
        GROUP BY j.node
    ) AS held ON held.node = n.id
ORDER BY n.id DESC
