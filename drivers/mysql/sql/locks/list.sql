-- Lists the locks after a name, or only the named locks, in byte order. The names
-- are one text, in which a NUL is before and after each name.
SELECT {micros({now})}, n.name, l.locked_by, {micros({utc_at(l.locked_at)})}, {micros({utc_until(l.lock_until)})},
       s.token, {micros(s.slot)}, {micros(s.anchor)}, s.step_ms, {micros(s.granted_at)}
FROM (SELECT CONVERT(name USING utf8mb4) COLLATE utf8mb4_bin AS name FROM {table}
      UNION
      SELECT name FROM {state}) AS n
LEFT JOIN {table} AS l ON CONVERT(l.name USING utf8mb4) COLLATE utf8mb4_bin = n.name
LEFT JOIN {state} AS s ON s.name = n.name
WHERE n.name > :after AND (:names IS NULL OR INSTR(CAST(:names AS BINARY), CONCAT(CHAR(0), CAST(n.name AS BINARY), CHAR(0))) > 0)
ORDER BY n.name
LIMIT :limit
