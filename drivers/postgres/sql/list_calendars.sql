-- statement listCalendars, takes names after limit, returns calendarColumns
-- Calendars by name, in byte order. A condition that is null does not count.
SELECT name, revision, definition, updated_at
FROM {schema}.calendar
WHERE (:names::text[] IS NULL OR name = ANY (:names)) AND name > :after::text COLLATE "C"
ORDER BY name LIMIT :limit::bigint
