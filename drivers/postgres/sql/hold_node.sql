-- Keeps a node from being declared dead until the transaction ends; no row: it
-- is dead already. Also reads the clock.
SELECT coalesce(:now::timestamptz, now()) AS now FROM {schema}.heartbeat WHERE node = :node::bigint FOR KEY SHARE
