-- Keeps a node from being declared dead until the transaction ends; no row: it
-- is dead already. Also reads the clock.
SELECT coalesce($1::timestamptz, now()) FROM {schema}.heartbeat WHERE node = $2::bigint FOR KEY SHARE
