-- shared statement deletePermits
-- Deletes the permits of limits that have ended.
DELETE FROM hourbell_node_permit WHERE limit_id IN (:limits)
