-- Inserts those of some lanes that do not exist.
INSERT INTO hourbell_lane (limit_id, key)
SELECT value ->> 'limit', value ->> 'key' FROM jsonb_each(:lanes) WHERE true
ON CONFLICT DO NOTHING
