-- statement updateLanes, takes ids used starts waiting tats not_befores look_ats
-- Changes lanes, which are locked.
UPDATE {schema}.lane AS l SET used = o.used, starts = o.starts, waiting = o.waiting, tat = o.tat, not_before = o.not_before, look_at = o.look_at
FROM unnest(:ids::bigint[], :used::integer[], :starts::integer[], :waiting::boolean[], :tats::timestamptz[], :not_befores::timestamptz[], :look_ats::timestamptz[])
    AS o (id, used, starts, waiting, tat, not_before, look_at)
WHERE l.id = ANY (ARRAY[o.id])
