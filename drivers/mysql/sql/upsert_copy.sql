-- shared statement upsertCopy
-- Stores the copy that a host declares.
INSERT INTO hourbell_copy (owner, host, path, digest, revision, changed_at)
VALUES (:owner, :host, :path, :digest, :revision, {at(:changed_at)})
ON DUPLICATE KEY UPDATE
  changed_at = IF(path <> VALUES(path) OR digest <> VALUES(digest) OR revision <> VALUES(revision), VALUES(changed_at), changed_at),
  path = VALUES(path), digest = VALUES(digest), revision = VALUES(revision)
