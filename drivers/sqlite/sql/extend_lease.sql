-- statement extendLease, returns beats
-- Extends a node's lease and counts its heartbeat; no row: the node has no lease.
UPDATE hourbell_node SET seen_at = :now, beats = beats + 1 WHERE id = :node AND ended_at IS NULL
RETURNING beats
