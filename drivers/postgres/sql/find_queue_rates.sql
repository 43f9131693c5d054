-- statement findQueueRates, takes queue, returns id revision rate per_us burst tat not_before
-- The limits of a whole queue, with the states of their rates.
SELECT l.id, l.revision, l.rate, l.per_us, l.burst, n.tat, n.not_before
FROM {schema}.job_limit AS l LEFT JOIN {schema}.lane AS n ON n.limit_id = l.id AND n.key = ''
WHERE l.queue = :queue::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL
