-- shared statement findLaneWork, returns limited rated found next_look
-- Reports whether a limit of a kind or of keys concerns the queue, and then whether there are permits to pass on, and when a lane has
-- to be looked at next. rated: a rate is among the limits.
SELECT t.limited, t.rated, t.limited AND (EXISTS (SELECT 1 FROM hourbell_vacancy) OR EXISTS (SELECT 1 FROM hourbell_lane WHERE look_at <= {at(:now)})) AS found,
  CASE WHEN t.limited THEN (SELECT {micros(n.look_at)} FROM hourbell_lane AS n FORCE INDEX (hourbell_lane_look)
    STRAIGHT_JOIN hourbell_job_limit AS l FORCE INDEX (PRIMARY) ON l.id = n.limit_id AND l.ended_at IS NULL
    WHERE n.look_at > {at(:now)} ORDER BY n.look_at LIMIT 1) END AS next_look
FROM (SELECT count(*) > 0 AS limited, coalesce(max(rate > 0 AND ended_at IS NULL), 0) AS rated
  FROM hourbell_job_limit WHERE (kind <> _utf8mb4'' OR by_key <> 0) AND (queue = _utf8mb4'' OR {in_queue(:queue, queue)})) AS t
