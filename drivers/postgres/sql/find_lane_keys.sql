-- statement findLaneKeys, takes limits keys, returns limit_id key id
-- The numbers of lanes. The limit of one row keeps the planner from reading all lanes of the limit, which are cheaper as long as they are few.
SELECT o.limit_id, o.key, l.id
FROM unnest(:limits::bigint[], :keys::text[]) AS o (limit_id, key), LATERAL (
    SELECT id FROM {schema}.lane WHERE limit_id = o.limit_id AND key = o.key LIMIT 1) AS l
