-- statement InsertVacancies
-- Inserts that all lanes of limits have to be looked at, after a number.
INSERT INTO hourbell_vacancy (limit_id, done_to, lanes)
SELECT value ->> 'limit', value ->> 'done_to', '[]' FROM jsonb_each(:vacancies)
