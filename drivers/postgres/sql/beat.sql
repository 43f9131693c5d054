-- Prolongs a node's lease; no row: it has none.
UPDATE {schema}.heartbeat SET seen_at = coalesce($1::timestamptz, now()) WHERE node = $2::bigint
RETURNING seen_at
