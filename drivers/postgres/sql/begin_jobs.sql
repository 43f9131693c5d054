-- Records that jobs of a claim may begin, unless the node is dead. The node cannot be
-- declared dead until this transaction ends. No row: the node is dead already. If there
-- are handlers of starts, nothing is recorded unless :handled.
WITH alive AS (
    SELECT node FROM {schema}.heartbeat WHERE node = :node::bigint FOR KEY SHARE
), noted AS (
    UPDATE {schema}.lease AS l SET begun = l.begun || :ids::bigint[] FROM alive
    WHERE l.id = :batch::bigint AND l.node = alive.node AND l.begun IS NOT NULL
        AND (:handled::boolean OR NOT EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0))
)
SELECT node, EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0) AS handled FROM alive
