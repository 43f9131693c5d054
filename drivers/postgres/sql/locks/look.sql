-- Reads the row and the state of a name, in one snapshot. Instants are
-- microseconds, so that their format does not depend on the session's settings.
SELECT {micros({now})},
       l.name::text, l.locked_by::text,
       {micros(l.locked_at)}, {micros(l.lock_until)},
       s.token, {micros(s.slot)}, {micros(s.anchor)}, s.step_ms, {micros(s.granted_at)}
FROM (VALUES (true)) AS one
LEFT JOIN {table} AS l ON l.name = :name::text
LEFT JOIN {state} AS s ON s.name = :name::text
