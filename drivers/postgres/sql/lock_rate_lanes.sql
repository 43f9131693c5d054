-- statement lockRateLanes, takes queue, returns id
-- Locks the lanes of the rates of a whole queue: claims of the queue happen one after the other.
SELECT x.id FROM {schema}.job_limit AS l JOIN {schema}.lane AS x ON x.limit_id = l.id AND x.key = ''
WHERE l.queue = :queue::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL AND l.rate > 0
ORDER BY x.id FOR NO KEY UPDATE OF x
