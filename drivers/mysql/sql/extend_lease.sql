-- Extends a node's lease and counts its heartbeat. The number of its heartbeats is the last insert id of
-- the statement; 0: the node has no lease.
UPDATE hourbell_node SET seen_at = {at(:now)}, beats = LAST_INSERT_ID(beats + 1) WHERE id = :node AND ended_at IS NULL
