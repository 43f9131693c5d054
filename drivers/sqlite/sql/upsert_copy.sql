-- shared statement upsertCopy
-- Stores the copy that a host declares.
INSERT INTO hourbell_copy (owner, host, path, digest, revision, changed_at) VALUES (:owner, :host, :path, :digest, :revision, :changed_at)
ON CONFLICT (owner, host) DO UPDATE SET path = excluded.path, digest = excluded.digest, revision = excluded.revision, changed_at = excluded.changed_at
WHERE path <> excluded.path OR digest <> excluded.digest OR revision <> excluded.revision
