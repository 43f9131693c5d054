-- Records the revision of an owner's sync, and makes concurrent syncs of an owner wait for
-- each other. No row: a later revision is recorded already.
INSERT INTO {schema}.owner (name, revision) VALUES (:owner::text, :revision::bigint)
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision WHERE owner.revision <= excluded.revision
RETURNING revision
