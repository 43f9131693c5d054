-- statement deleteClaimBatches, takes node batches
-- Deletes claims whose jobs have all ended. A node that is gone deletes nothing, because its claims
-- may have jobs that a rescue has left to open transactions.
DELETE FROM {schema}.lease
WHERE id = ANY (:batches::bigint[]) AND node = :node::bigint AND EXISTS (SELECT FROM {schema}.heartbeat WHERE node = :node::bigint)
