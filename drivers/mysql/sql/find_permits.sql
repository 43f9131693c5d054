-- shared statement findPermits, returns limit_id node permits wants
-- The permits that nodes hold.
SELECT limit_id, node, permits, wants FROM hourbell_node_permit WHERE limit_id IN (:limits)
