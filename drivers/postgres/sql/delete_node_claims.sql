-- Deletes all claims of nodes that have ended.
DELETE FROM {schema}.lease WHERE node = ANY (:nodes::bigint[])
