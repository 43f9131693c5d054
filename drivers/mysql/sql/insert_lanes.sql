-- statement InsertLanes
-- Inserts lanes that do not exist, unless another transaction has inserted them.
INSERT INTO hourbell_lane (limit_id, `key`)
VALUES
(:limit, :key)
ON DUPLICATE KEY UPDATE limit_id = VALUES(limit_id)
