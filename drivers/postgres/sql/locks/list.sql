-- Lists the locks after a name ($1), or only the named locks ($2), in byte
-- order.
SELECT (extract(epoch FROM {now $4}) * 1000000)::bigint,
       coalesce(l.name::text, s.name), l.locked_by::text,
       (extract(epoch FROM l.locked_at) * 1000000)::bigint, (extract(epoch FROM l.lock_until) * 1000000)::bigint,
       s.token, (extract(epoch FROM s.slot) * 1000000)::bigint, (extract(epoch FROM s.anchor) * 1000000)::bigint,
       s.step_ms, (extract(epoch FROM s.granted_at) * 1000000)::bigint
FROM {table} AS l
FULL JOIN {state} AS s ON s.name = l.name::text COLLATE "C"
WHERE coalesce(l.name::text, s.name) COLLATE "C" > $1::text
  AND ($2::text[] IS NULL OR coalesce(l.name::text, s.name) COLLATE "C" = ANY ($2::text[]))
ORDER BY coalesce(l.name::text, s.name) COLLATE "C"
LIMIT $3::bigint
