-- Extends a node's lease and returns how far the store has come; no row: the node has
-- no lease.
WITH beat AS (
    UPDATE {schema}.heartbeat SET seen_at = coalesce($1::timestamptz, now()), beats = beats + 1 WHERE node = $2::bigint
    RETURNING seen_at, beats
)
SELECT b.seen_at, b.beats, coalesce(l.store, ''), k.last_value - (NOT k.is_called)::integer, n.last_value - (NOT n.is_called)::integer,
    coalesce(l.accepted, 0), l.lost_at
FROM beat AS b CROSS JOIN {schema}.token AS k CROSS JOIN {schema}.node_id_seq AS n LEFT JOIN {schema}.timeline AS l ON true
