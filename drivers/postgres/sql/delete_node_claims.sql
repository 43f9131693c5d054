-- statement deleteNodeClaims, takes nodes
-- Deletes all claims of nodes that have ended, and their permits.
WITH permits AS (DELETE FROM {schema}.node_permit WHERE node = ANY (:nodes::bigint[]))
DELETE FROM {schema}.lease WHERE node = ANY (:nodes::bigint[])
