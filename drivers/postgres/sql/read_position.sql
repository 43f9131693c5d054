-- statement readPosition, returns positionColumns
-- How far the store has come: the last values of its sequences, and what was reported and
-- accepted.
SELECT coalesce(l.store, '') AS store, k.last_value - (NOT k.is_called)::integer AS token, n.last_value - (NOT n.is_called)::integer AS node,
    coalesce(l.accepted, 0) AS accepted, l.lost_at
FROM {schema}.token AS k CROSS JOIN {schema}.node_id_seq AS n LEFT JOIN {schema}.timeline AS l ON true
