-- statement holdNode, takes now node, returns now
-- Prevents that a node is declared dead before the transaction ends, and reads the clock.
-- No row: the node is dead already.
SELECT coalesce(:now::timestamptz, now()) AS now FROM {schema}.heartbeat WHERE node = :node::bigint FOR KEY SHARE
