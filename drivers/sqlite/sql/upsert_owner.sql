-- shared statement upsertOwner
-- Stores what the last sync of an owner left.
INSERT INTO hourbell_owner (name, revision, digest, host, synced_at) VALUES (:owner, :revision, :digest, :host, :synced_at)
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, digest = excluded.digest, host = excluded.host, synced_at = excluded.synced_at
WHERE revision <> excluded.revision OR digest <> excluded.digest
