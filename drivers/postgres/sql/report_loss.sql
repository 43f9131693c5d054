-- statement reportLoss, takes now accepted token node seen_accepted
-- Records that a node has seen greater numbers than the store has, unless the loss has
-- been accepted since the node read them.
UPDATE {schema}.timeline
SET lost_at = coalesce(lost_at, :now::timestamptz, now()), seen_token = greatest(seen_token, :token::bigint),
    seen_node = greatest(seen_node, :node::bigint), seen_accepted = greatest(seen_accepted, :seen_accepted::bigint)
WHERE accepted = :accepted::bigint
