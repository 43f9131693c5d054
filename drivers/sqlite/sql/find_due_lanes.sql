-- shared statement findDueLanes, returns id
-- Lanes that have to be looked at.
SELECT id FROM hourbell_lane WHERE look_at <= :now ORDER BY look_at, id LIMIT +:limit
