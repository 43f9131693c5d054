-- A heartbeat waits for nothing of its own node: each claim holds the row of its node until it commits.

-- The last heartbeat of each living node. Who ends a node locks its row in hourbell_node, and then deletes this row. A node that
-- registered before this step has none, and its last heartbeat is in hourbell_node.
CREATE TABLE IF NOT EXISTS hourbell_heartbeat (
  node    BIGINT NOT NULL PRIMARY KEY,
  seen_at DATETIME(6) NOT NULL,
  beats   BIGINT NOT NULL DEFAULT 0 -- how many heartbeats the node has sent
) {table};
