-- Reads the row and the state of a name.
SELECT {now}, l.name, l.locked_by, l.locked_at, l.lock_until, s.token, s.slot, s.anchor, s.step, s.granted_at
FROM (SELECT 1)
LEFT JOIN {table} AS l ON l.name = :name
LEFT JOIN {state} AS s ON s.name = :name
