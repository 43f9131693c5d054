-- Extends a node's lease and counts its heartbeat. The number of its heartbeats is the last insert id of
-- the statement; 0: the node has no lease. It locks no row that a claim locks.
UPDATE hourbell_heartbeat SET seen_at = {at(:now)}, beats = LAST_INSERT_ID(beats + 1) WHERE node = :node
