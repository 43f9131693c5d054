UPDATE hourbell_timeline
SET lost_at = coalesce(lost_at, :now), seen_token = max(seen_token, :token), seen_node = max(seen_node, :node),
  seen_accepted = max(seen_accepted, :seen_accepted)
WHERE accepted = :accepted
