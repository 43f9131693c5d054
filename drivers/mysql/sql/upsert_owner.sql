-- shared statement upsertOwner
-- Stores what the last sync of an owner left.
INSERT INTO hourbell_owner (name, revision, digest, host, synced_at) VALUES (:owner, :revision, :digest, :host, {at(:synced_at)})
ON DUPLICATE KEY UPDATE revision = VALUES(revision), digest = VALUES(digest), host = VALUES(host), synced_at = VALUES(synced_at)
