-- shared statement deleteNodePermits
-- Deletes the permits of nodes that have ended.
DELETE FROM hourbell_node_permit WHERE node IN (SELECT value FROM json_each(:nodes))
