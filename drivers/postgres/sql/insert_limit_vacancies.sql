-- Records that all lanes are to be looked at.
INSERT INTO {schema}.vacancy (limit_id, lanes) SELECT id, '{}' FROM {schema}.job_limit WHERE by_key OR kind <> ''
