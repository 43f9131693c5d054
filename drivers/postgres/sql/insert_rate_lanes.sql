-- statement insertRateLanes, takes queue
-- Makes the lanes of the rates of a whole queue that are missing.
INSERT INTO {schema}.lane (limit_id, key)
SELECT l.id, '' FROM {schema}.job_limit AS l
WHERE l.queue = :queue::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL AND l.rate > 0
    AND NOT EXISTS (SELECT FROM {schema}.lane AS x WHERE x.limit_id = l.id AND x.key = '')
ON CONFLICT (limit_id, key) DO NOTHING
