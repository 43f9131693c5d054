-- When the first lease of another node passes.
SELECT min(seen_at + lease) FROM {schema}.heartbeat WHERE node <> $1::bigint
