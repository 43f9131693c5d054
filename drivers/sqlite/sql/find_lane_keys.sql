-- shared statement findLaneKeys, returns limit_id key id
-- The numbers of lanes.
SELECT l.limit_id, l.key, l.id FROM jsonb_each(:lanes) AS o CROSS JOIN hourbell_lane AS l ON l.limit_id = o.value ->> 'limit' AND l.key = o.value ->> 'key'
