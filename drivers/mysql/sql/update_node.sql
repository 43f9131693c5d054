-- Continues the registration of a node, and extends its lease. The number of its heartbeats is the
-- last insert id of the statement; 0: the node has no lease.
UPDATE hourbell_node
SET version = :version, host = :host, labels = :labels, queues = :queues, kinds = :kinds, lease = :lease, seen_at = {at(:now)}, beats = LAST_INSERT_ID(beats + 1)
WHERE id = :node AND ended_at IS NULL
