-- statement insertLanes, takes limits keys
-- Inserts lanes, in the order of the arrays, because another transaction may insert the same lanes. No lane is locked before.
INSERT INTO {schema}.lane (limit_id, key)
SELECT o.limit_id, o.key FROM unnest(:limits::bigint[], :keys::text[]) WITH ORDINALITY AS o (limit_id, key, place)
ORDER BY o.place
ON CONFLICT DO NOTHING
