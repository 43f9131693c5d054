-- Notes the revision of an owner's sync, which also makes the owner's syncs
-- wait for each other; no row: a newer one was here.
INSERT INTO {schema}.owner (name, revision) VALUES (:owner::text, :revision::bigint)
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision WHERE owner.revision <= excluded.revision
RETURNING revision
