-- When the first lease of another node expires.
SELECT min(seen_at + lease) AS next_expiry FROM {schema}.heartbeat WHERE node <> :node::bigint
