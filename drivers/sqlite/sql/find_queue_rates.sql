-- statement findQueueRates, returns id revision rate per burst tat not_before
-- The limits of a whole queue, with the state of their rates.
SELECT l.id, l.revision, l.rate, l.per, l.burst, x.tat, x.not_before
FROM hourbell_job_limit AS l LEFT JOIN hourbell_lane AS x ON x.limit_id = l.id AND x.key = ''
WHERE l.queue = :queue AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL
