-- statement updateRateLanes, takes limit tat
-- Records the starts of jobs of a queue with a rate.
UPDATE {schema}.lane SET tat = :tat::timestamptz WHERE limit_id = :limit::bigint AND key = ''
