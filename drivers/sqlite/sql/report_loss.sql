-- shared statement reportLoss
-- Records that a node has seen greater numbers than the store has, unless the loss has been
-- accepted since the node read them.
UPDATE hourbell_timeline
SET lost_at = coalesce(lost_at, :now), seen_token = max(seen_token, :token), seen_node = max(seen_node, :node),
  seen_accepted = max(seen_accepted, :seen_accepted)
WHERE accepted = :accepted
