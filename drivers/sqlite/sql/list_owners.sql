-- shared statement listOwners, returns name revision digest host synced_at copy_host copy_path copy_digest copy_revision changed_at, a listing
-- Owners of schedules with the copies of hosts, by name, then by host.
SELECT o.name, o.revision, o.digest, o.host, o.synced_at, c.host AS copy_host, c.path AS copy_path, c.digest AS copy_digest,
  c.revision AS copy_revision, c.changed_at
FROM (
  SELECT name, revision, digest, host, synced_at FROM hourbell_owner
  WHERE name > :after
    AND name IN (SELECT value FROM json_each(:names)) -- if names
  ORDER BY name LIMIT +:limit
) AS o LEFT JOIN hourbell_copy AS c ON c.owner = o.name
ORDER BY o.name, c.host
