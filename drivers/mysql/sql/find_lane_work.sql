-- Reports whether a limit whose permits jobs hold concerns the queue, and then whether there are permits to pass on, and when a lane has
-- to be looked at next. rated: a rate is among the limits.
SELECT t.limited, t.rated, t.limited AND (EXISTS (SELECT 1 FROM hourbell_vacancy) OR EXISTS (SELECT 1 FROM hourbell_lane WHERE look_at <= {at(:now)})) AS found,
  CASE WHEN t.limited THEN (SELECT {micros(min(look_at))} FROM hourbell_lane WHERE look_at > {at(:now)}) END AS next_look
FROM (SELECT count(*) > 0 AS limited, coalesce(max(rate > 0 AND ended_at IS NULL), 0) AS rated
  FROM hourbell_job_limit WHERE (kind <> _utf8mb4'' OR by_key <> 0) AND (queue = _utf8mb4'' OR {in_queue(:queue, queue)})) AS t
