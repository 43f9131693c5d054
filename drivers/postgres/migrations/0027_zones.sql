-- The data of the time zones in use on the node, each ZONE=FINGERPRINT.
ALTER TABLE {schema}.node ADD COLUMN zones text[] NOT NULL DEFAULT '{}';
