-- Records that jobs of a claim may begin, unless the node is dead. The node cannot be
-- declared dead until this transaction ends. No row: the node is dead already.
WITH alive AS (
    SELECT node FROM {schema}.heartbeat WHERE node = :node::bigint FOR KEY SHARE
), noted AS (
    UPDATE {schema}.lease AS l SET begun = l.begun || :ids::bigint[] FROM alive
    WHERE l.id = :batch::bigint AND l.node = alive.node AND l.begun IS NOT NULL
)
SELECT node FROM alive
