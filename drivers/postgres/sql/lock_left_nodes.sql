-- statement lockLeftNodes, takes now node beat, returns id name died
-- Locks ended nodes whose jobs were left to open transactions and are to be looked at again,
-- if the node that asks sent a heartbeat within the last half of its own lease, and none
-- after the beat whose answer it knows.
SELECT n.id, n.name, n.died FROM {schema}.node AS n
WHERE n.look_at <= coalesce(:now::timestamptz, now())
    AND EXISTS (SELECT FROM {schema}.heartbeat AS asker WHERE asker.node = :node::bigint AND asker.beats = :beat::bigint
        AND (coalesce(:now::timestamptz, now()) - asker.seen_at) * 2 BETWEEN -asker.lease AND asker.lease)
ORDER BY n.id
FOR UPDATE SKIP LOCKED
