-- statement InsertLimitVacancies
-- Records that all lanes are to be looked at.
INSERT INTO hourbell_vacancy (limit_id, lanes) SELECT id, '[]' FROM hourbell_job_limit WHERE by_key OR kind <> _utf8mb4''
