-- statement findDueLanes, takes now limit, returns id
-- Lanes that have to be looked at.
SELECT id FROM {schema}.lane WHERE look_at <= coalesce(:now::timestamptz, now()) ORDER BY look_at, id LIMIT :limit::bigint
