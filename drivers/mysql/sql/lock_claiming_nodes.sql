-- statement lockClaimingNodes, returns id
-- statement lockClaimingNode, given one, returns id
-- Waits for the claims that have begun, and keeps nodes, or one node, from claiming.
SELECT id FROM hourbell_node WHERE ended_at IS NULL
  AND id = :node -- if one
ORDER BY id FOR UPDATE
