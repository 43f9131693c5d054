-- Inserts those of some lanes that do not exist, in the order of the arrays: another transaction may insert the same lanes. No lane
-- is locked before.
INSERT INTO {schema}.lane (limit_id, key)
SELECT o.limit_id, o.key FROM unnest(:limits::bigint[], :keys::text[]) WITH ORDINALITY AS o (limit_id, key, place)
WHERE NOT EXISTS (SELECT FROM {schema}.lane AS l WHERE l.limit_id = o.limit_id AND l.key = o.key)
ORDER BY o.place
ON CONFLICT DO NOTHING
