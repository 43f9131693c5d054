-- statement lockOwner, takes owner revision now, returns ownerColumns now
-- Locks an owner of schedules, which is inserted if it was never synced: then it has no instant.
INSERT INTO {schema}.owner (name, revision) VALUES (:owner::text, :revision::bigint)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING revision, digest, host, synced_at, coalesce(:now::timestamptz, now()) AS now
