-- statement listOwners, takes names after limit, returns ownerRowColumns
-- Owners of schedules with the copies of hosts, by name, then by host.
SELECT o.name, o.revision, o.digest, o.host, o.synced_at, c.host AS copy_host, c.path AS copy_path, c.digest AS copy_digest,
    c.revision AS copy_revision, c.changed_at
FROM (
    SELECT name, revision, digest, host, synced_at FROM {schema}.owner
    WHERE (:names::text[] IS NULL OR name = ANY (:names::text[])) AND name > :after::text COLLATE "C"
    ORDER BY name LIMIT :limit::bigint
) AS o LEFT JOIN {schema}.copy AS c ON c.owner = o.name
ORDER BY o.name, c.host
