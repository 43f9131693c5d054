-- Records the revision of an owner's sync.
INSERT INTO hourbell_owner (name, revision) VALUES (:owner, :revision)
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision WHERE revision <> excluded.revision
