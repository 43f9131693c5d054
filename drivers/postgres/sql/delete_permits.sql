-- statement deletePermits, takes limits
-- Deletes the permits of limits that have ended.
DELETE FROM {schema}.node_permit WHERE limit_id = ANY (:limits::bigint[])
