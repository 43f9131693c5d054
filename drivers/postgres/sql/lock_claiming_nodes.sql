-- statement lockClaimingNodes, returns node
-- Waits for the claims that have begun, which hold the rows of their nodes.
SELECT node FROM {schema}.heartbeat ORDER BY node FOR UPDATE
