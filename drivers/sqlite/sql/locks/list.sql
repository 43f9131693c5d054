-- Lists the locks after a name, or only the named locks, in byte order.
SELECT {now}, n.name, l.locked_by, l.locked_at, l.lock_until, s.token, s.slot, s.anchor, s.step, s.granted_at
FROM (SELECT name COLLATE BINARY AS name FROM {table} UNION SELECT name FROM {state}) AS n
LEFT JOIN {table} AS l ON l.name = n.name AND l.name = n.name COLLATE BINARY
LEFT JOIN {state} AS s ON s.name = n.name
WHERE n.name > :after AND (:names IS NULL OR n.name IN (SELECT value FROM json_each(:names)))
ORDER BY n.name
LIMIT +:limit
