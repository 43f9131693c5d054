-- Calendars by name, in byte order. A condition that is null does not count.
SELECT name, revision, definition, updated_at
FROM {schema}.calendar
WHERE ($1::text[] IS NULL OR name = ANY ($1)) AND name > $2::text COLLATE "C"
ORDER BY name LIMIT $3::bigint
