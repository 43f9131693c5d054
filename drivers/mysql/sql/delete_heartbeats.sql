-- Ends the leases of nodes.
DELETE FROM hourbell_heartbeat WHERE node IN (:nodes)
