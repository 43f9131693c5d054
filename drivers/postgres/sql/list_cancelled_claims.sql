-- statement listCancelledClaims, takes node, returns id token
-- The claims of a node whose jobs are to be cancelled.
SELECT j.id, j.token
FROM {schema}.cancel_request AS c JOIN {schema}.job AS j ON j.id = ANY (ARRAY[c.job_id])
WHERE c.node = :node::bigint AND j.node = c.node AND j.running
ORDER BY j.id + 0
