-- statement findLimitWaits, returns job_id limit_id key in_use starts tat not_before lane priority state run_at
-- Why limits let jobs wait: of a job in a lane, the lane and the place of the job; of a due job of a queue that has a limit as a
-- whole, the permits that nodes hold.
SELECT j.id AS job_id, n.limit_id, n.`key`, n.used AS in_use, n.starts, {micros(n.tat)} AS tat, {micros(n.not_before)} AS not_before,
  j.lane, j.priority, j.state, {micros(j.run_at)} AS run_at
FROM hourbell_job AS j JOIN hourbell_lane AS n ON n.id = j.lane
WHERE j.id IN (:ids)
UNION ALL
SELECT j.id, l.id, _utf8mb4'', (SELECT coalesce(sum(p.permits), 0) FROM hourbell_node_permit AS p WHERE p.limit_id = l.id),
    coalesce(n.starts, 0), {micros(n.tat)}, {micros(n.not_before)}, 0, j.priority, j.state, {micros(j.run_at)}
FROM hourbell_job AS j
  JOIN hourbell_job_limit AS l ON {in_queue(j.queue, l.queue)}
  LEFT JOIN hourbell_lane AS n ON n.limit_id = l.id AND n.`key` = _utf8mb4''
WHERE j.id IN (:ids) AND j.state = 0 AND l.kind = _utf8mb4'' AND l.by_key = 0 AND l.ended_at IS NULL
ORDER BY job_id, limit_id
