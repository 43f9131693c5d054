-- Deletes claims whose jobs have all ended.
DELETE FROM {schema}.lease WHERE id = ANY (:batches::bigint[]) AND node = :node::bigint
