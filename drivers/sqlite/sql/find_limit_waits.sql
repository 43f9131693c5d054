-- statement findLimitWaits, returns job_id limit_id key in_use starts tat not_before before
-- Why limits let jobs wait: of a job in a lane, the lane and how many jobs are before it, at most :most; of a due job of a
-- queue that has a limit as a whole, the permits that nodes hold.
SELECT j.id AS job_id, n.limit_id, n.key, n.used AS in_use, n.starts, n.tat, n.not_before,
  (SELECT count(*) FROM (SELECT 1 FROM hourbell_job AS o
    WHERE o.lane = j.lane AND (o.priority, o.state, o.run_at, o.id) < (j.priority, j.state, j.run_at, j.id) LIMIT +:most)) AS before
FROM json_each(:ids) AS i JOIN hourbell_job AS j ON j.id = i.value JOIN hourbell_lane AS n ON n.id = j.lane
WHERE j.lane IS NOT NULL
UNION ALL
SELECT j.id, l.id, '', (SELECT coalesce(sum(p.permits), 0) FROM hourbell_node_permit AS p WHERE p.limit_id = l.id),
    coalesce(n.starts, 0), n.tat, n.not_before, 0
FROM json_each(:ids) AS i JOIN hourbell_job AS j ON j.id = i.value
  JOIN hourbell_job_limit AS l ON {in_queue(j.queue, l.queue)}
  LEFT JOIN hourbell_lane AS n ON n.limit_id = l.id AND n.key = ''
WHERE j.state = 0 AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL
ORDER BY job_id, limit_id
