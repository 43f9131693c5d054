-- Records the starts of jobs of a queue with a rate.
INSERT INTO hourbell_lane (limit_id, key, tat) VALUES (:limit, '', :tat)
ON CONFLICT (limit_id, key) DO UPDATE SET tat = excluded.tat
