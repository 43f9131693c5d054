-- shared statement insertVacancies
-- Inserts permits that were given back, or that all lanes of a limit have to be looked at, after a number.
INSERT INTO hourbell_vacancy (limit_id, done_to, lanes)
SELECT value ->> 'limit', value ->> 'done_to', coalesce(value ->> 'lanes', '[]') FROM jsonb_each(:rows)
