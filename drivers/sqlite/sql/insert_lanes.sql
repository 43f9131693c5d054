-- statement InsertLanes
-- Inserts lanes that do not exist yet.
INSERT INTO hourbell_lane (limit_id, key)
SELECT value ->> 'limit', value ->> 'key' FROM jsonb_each(:rows) WHERE true
ON CONFLICT DO NOTHING
