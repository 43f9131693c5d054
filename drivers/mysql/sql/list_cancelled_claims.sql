-- statement ListCancelledClaims, returns id token
-- The claims of a node whose jobs are to be cancelled.
SELECT j.id, j.token
FROM hourbell_cancel_request AS c STRAIGHT_JOIN hourbell_job AS j ON j.id = c.job_id
WHERE j.state = 2 AND j.node = :node
ORDER BY j.id
