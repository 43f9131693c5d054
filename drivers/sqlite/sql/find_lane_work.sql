-- shared statement findLaneWork, returns limited rated found next_look
-- Reports whether a limit of a kind or of keys concerns the queue, and then whether there are permits to pass on, and when a lane has
-- to be looked at next. rated: a rate is among the limits.
SELECT limited, rated, limited AND (EXISTS (SELECT 1 FROM hourbell_vacancy) OR EXISTS (SELECT 1 FROM hourbell_lane WHERE look_at <= :now)) AS found,
  CASE WHEN limited THEN (SELECT min(look_at) FROM hourbell_lane WHERE look_at > :now) END AS next_look
FROM (SELECT count(*) > 0 AS limited, coalesce(max(rate > 0 AND ended_at IS NULL), 0) AS rated
  FROM hourbell_job_limit WHERE (kind <> '' OR by_key) AND (queue = '' OR {in_queue(:queue, queue)}))
