-- statement extendLease, takes now node, returns seen_at beats positionColumns releases
-- Extends a node's lease and returns how far the store has come, and
-- whether dependents of ended jobs are to be released; no row: the node has
-- no lease.
WITH beat AS (
    UPDATE {schema}.heartbeat SET seen_at = coalesce(:now::timestamptz, now()), beats = beats + 1 WHERE node = :node::bigint
    RETURNING seen_at, beats
)
SELECT b.seen_at, b.beats, coalesce(l.store, '') AS store, k.last_value - (NOT k.is_called)::integer AS token, n.last_value - (NOT n.is_called)::integer AS node,
    coalesce(l.accepted, 0) AS accepted, l.lost_at,
    EXISTS (SELECT FROM {schema}.release) AS releases
FROM beat AS b CROSS JOIN {schema}.token AS k CROSS JOIN {schema}.node_id_seq AS n LEFT JOIN {schema}.timeline AS l ON true
