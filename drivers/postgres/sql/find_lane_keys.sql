-- The numbers of lanes.
SELECT l.limit_id, l.key, l.id
FROM unnest(:limits::bigint[], :keys::text[]) AS o (limit_id, key), LATERAL (
    SELECT limit_id, key, id FROM {schema}.lane WHERE limit_id = o.limit_id AND key = o.key) AS l
