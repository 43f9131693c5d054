-- Remembers that a node has seen greater numbers than the store has, unless the
-- loss has been accepted since the node read them.
UPDATE {schema}.timeline
SET lost_at = coalesce(lost_at, $1::timestamptz, now()), seen_token = greatest(seen_token, $3::bigint),
    seen_node = greatest(seen_node, $4::bigint), seen_accepted = greatest(seen_accepted, $5::bigint)
WHERE accepted = $2::bigint
