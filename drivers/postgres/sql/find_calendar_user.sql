-- A calendar that a living schedule names, of some.
SELECT u.calendar
FROM {schema}.calendar_use AS u JOIN {schema}.schedule AS s ON s.id = u.schedule_id
WHERE u.calendar = ANY (:names::text[]) AND s.deleted_at IS NULL
LIMIT 1
