-- Reads the row and the state of a name. Instants are microseconds since 1970.
SELECT {micros({now})}, l.name, l.locked_by, {micros({utc_at(l.locked_at)})}, {micros({utc_until(l.lock_until)})},
       s.token, {micros(s.slot)}, {micros(s.anchor)}, s.step_ms, {micros(s.granted_at)}
FROM (SELECT 1) AS one
LEFT JOIN {table} AS l ON l.name = :name
LEFT JOIN {state} AS s ON s.name = :name
