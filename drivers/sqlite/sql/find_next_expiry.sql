-- statement FindNextExpiry, returns next_expiry
-- When the first lease of another node expires.
SELECT min(seen_at + lease) AS next_expiry FROM hourbell_node WHERE ended_at IS NULL AND id <> :node
