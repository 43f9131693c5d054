-- statement upsertCopy, takes owner host path digest revision changed_at
-- Stores the copy that a host declares.
INSERT INTO {schema}.copy AS c (owner, host, path, digest, revision, changed_at)
VALUES (:owner::text, :host::text, :path::text, :digest::text, :revision::bigint, :changed_at::timestamptz)
ON CONFLICT (owner, host) DO UPDATE SET path = excluded.path, digest = excluded.digest, revision = excluded.revision, changed_at = excluded.changed_at
WHERE (c.path, c.digest, c.revision) <> (excluded.path, excluded.digest, excluded.revision)
