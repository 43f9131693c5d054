-- statement InsertLimitVacancies
-- Records that all lanes are to be looked at, if a pause of a queue or a kind has ended.
INSERT INTO hourbell_vacancy (limit_id, lanes) SELECT id, '[]' FROM hourbell_job_limit
WHERE (by_key OR kind <> '') AND EXISTS (SELECT 1 FROM hourbell_pause WHERE subject <> 0 AND until <= :now)
