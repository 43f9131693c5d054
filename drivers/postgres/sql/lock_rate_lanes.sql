-- statement lockRateLanes, takes queue, returns id tat rate per_us burst
-- The lanes of the rates of a whole queue. Claims of the queue happen one after the other.
SELECT x.id, x.tat, l.rate, l.per_us, l.burst
FROM {schema}.job_limit AS l JOIN {schema}.lane AS x ON x.limit_id = l.id AND x.key = ''
WHERE l.queue = :queue::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL AND l.rate > 0
ORDER BY x.id FOR NO KEY UPDATE OF x
