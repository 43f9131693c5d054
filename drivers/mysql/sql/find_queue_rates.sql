-- statement findQueueRates, returns id revision rate per burst tat not_before made
-- The limits of a whole queue, with the state of their rates.
SELECT l.id, l.revision, l.rate, l.per, l.burst, {micros(x.tat)} AS tat, {micros(x.not_before)} AS not_before, x.id IS NOT NULL AS made
FROM hourbell_job_limit AS l LEFT JOIN hourbell_lane AS x ON x.limit_id = l.id AND x.`key` = _utf8mb4''
WHERE l.queue = :queue AND l.kind = _utf8mb4'' AND l.by_key = 0 AND l.ended_at IS NULL
