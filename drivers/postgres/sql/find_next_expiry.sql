-- statement findNextExpiry, takes node, returns next_expiry
-- When the first lease of another node expires, or when jobs that were left to open
-- transactions are to be looked at again.
SELECT least(
    (SELECT min(seen_at + lease) FROM {schema}.heartbeat WHERE node <> :node::bigint),
    (SELECT min(look_at) FROM {schema}.node WHERE look_at IS NOT NULL)) AS next_expiry
