-- shared statement deleteNodePermits
-- Deletes the permits that nodes hold.
DELETE FROM hourbell_node_permit WHERE node IN (:nodes)
