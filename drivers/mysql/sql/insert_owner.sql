-- Inserts an owner that was never synced, or locks it. An owner that has just been inserted has no instant.
INSERT INTO hourbell_owner (name, revision) VALUES (:owner, :revision) ON DUPLICATE KEY UPDATE name = name
