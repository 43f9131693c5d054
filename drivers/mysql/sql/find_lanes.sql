-- shared statement findLanes, returns id
-- Lanes of a limit, after a number.
SELECT id FROM hourbell_lane WHERE limit_id = :limit_id AND id > :after_id ORDER BY id LIMIT :limit
