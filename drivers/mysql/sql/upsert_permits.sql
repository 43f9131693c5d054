-- shared statement upsertPermits
-- Sets the permits that nodes hold.
INSERT INTO hourbell_node_permit (limit_id, node, permits, wants)
VALUES
(:limit, :node, :permits, :wants)
ON DUPLICATE KEY UPDATE permits = VALUES(permits), wants = VALUES(wants)
