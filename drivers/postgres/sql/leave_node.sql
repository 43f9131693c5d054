-- statement leaveNode, takes now node, returns nodeColumns
-- Ends the registration of a node, if the node is alive.
WITH left_behind AS (
    DELETE FROM {schema}.heartbeat WHERE node = :node::bigint RETURNING node, seen_at
)
UPDATE {schema}.node AS n SET seen_at = left_behind.seen_at, ended_at = coalesce(:now::timestamptz, now()), died = false
FROM left_behind WHERE n.id = left_behind.node
RETURNING n.id, n.name, n.version, n.host, n.labels, n.queues, n.kinds, n.zones, n.problems, n.lease, n.started_at, n.seen_at, n.ended_at, n.died, 0::bigint AS beats, 0::bigint AS running
