-- Lists the locks after a name, or only the named locks, in byte order.
SELECT {micros({now})},
       coalesce(l.name::text, s.name), l.locked_by::text,
       {micros(l.locked_at)}, {micros(l.lock_until)},
       s.token, {micros(s.slot)}, {micros(s.anchor)}, s.step_ms, {micros(s.granted_at)}
FROM {table} AS l
FULL JOIN {state} AS s ON s.name = l.name::text COLLATE "C"
WHERE coalesce(l.name::text, s.name) COLLATE "C" > :after::text
  AND (:names::text[] IS NULL OR coalesce(l.name::text, s.name) COLLATE "C" = ANY (:names::text[]))
ORDER BY coalesce(l.name::text, s.name) COLLATE "C"
LIMIT :limit::bigint
