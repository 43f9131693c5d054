-- statement expireNodes, takes now node beat, returns nodeColumns
-- Declares dead every other node whose lease has expired, if the node that asks sent a
-- heartbeat within the last half of its own lease, and none after the beat whose answer it
-- knows. The statement waits for a heartbeat or a claim that holds a node, and then reads the lease again.
WITH expired AS (
    DELETE FROM {schema}.heartbeat
    WHERE node = ANY (ARRAY(SELECT node FROM {schema}.heartbeat
        WHERE node <> :node::bigint AND seen_at + lease <= coalesce(:now::timestamptz, now())
            AND EXISTS (SELECT FROM {schema}.heartbeat AS asker WHERE asker.node = :node::bigint AND asker.beats = :beat::bigint
                AND (coalesce(:now::timestamptz, now()) - asker.seen_at) * 2 BETWEEN -asker.lease AND asker.lease)
        ORDER BY node FOR UPDATE))
    RETURNING node, seen_at
)
UPDATE {schema}.node AS n SET seen_at = expired.seen_at, ended_at = coalesce(:now::timestamptz, now()), died = true
FROM expired WHERE n.id = expired.node
RETURNING n.id, n.name, n.version, n.host, n.labels, n.queues, n.kinds, n.zones, n.problems, n.lease, n.started_at, n.seen_at, n.ended_at, n.died, 0::bigint AS beats, 0::bigint AS running
