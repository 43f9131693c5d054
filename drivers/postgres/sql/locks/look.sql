-- Reads the row and the state of a name, in one snapshot. Instants are
-- microseconds, so that their format does not depend on the session's settings.
SELECT (extract(epoch FROM {now $2}) * 1000000)::bigint,
       l.name::text, l.locked_by::text,
       (extract(epoch FROM l.locked_at) * 1000000)::bigint, (extract(epoch FROM l.lock_until) * 1000000)::bigint,
       s.token, (extract(epoch FROM s.slot) * 1000000)::bigint, (extract(epoch FROM s.anchor) * 1000000)::bigint,
       s.step_ms, (extract(epoch FROM s.granted_at) * 1000000)::bigint
FROM (VALUES (true)) AS one
LEFT JOIN {table} AS l ON l.name = $1::text
LEFT JOIN {state} AS s ON s.name = $1::text
