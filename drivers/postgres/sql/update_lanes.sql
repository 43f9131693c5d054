-- Changes lanes, which are locked.
UPDATE {schema}.lane AS l SET used = o.used, waiting = o.waiting, look_at = o.look_at
FROM unnest(:ids::bigint[], :used::integer[], :waiting::boolean[], :look_ats::timestamptz[]) AS o (id, used, waiting, look_at)
WHERE l.id = ANY (ARRAY[o.id])
