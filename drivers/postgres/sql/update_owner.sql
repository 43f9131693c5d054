-- statement updateOwner, takes owner revision digest host synced_at
-- Stores what the last sync of an owner left.
UPDATE {schema}.owner SET revision = :revision::bigint, digest = :digest::text, host = :host::text, synced_at = :synced_at::timestamptz
WHERE name = :owner::text
