-- statement findLanes, takes limit_id after_id limit, returns id
-- Lanes of a limit, after a number.
SELECT id FROM {schema}.lane WHERE limit_id = :limit_id::bigint AND id > :after_id::bigint ORDER BY id LIMIT :limit::bigint
