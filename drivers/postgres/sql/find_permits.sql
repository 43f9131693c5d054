-- statement findPermits, takes limits, returns limit_id node permits wants
-- The permits that nodes hold.
SELECT limit_id, node, permits, wants FROM {schema}.node_permit WHERE limit_id = ANY (:limits::bigint[])
