-- statement countLimit, returns in_use waiting keys
-- What a limit holds. Of a limit of a whole queue, the jobs that wait are the due jobs of its queue, and of its places, that no node
-- has claimed: their queues are between NAME@ and NAMEA. At most :most waiting jobs are counted.
SELECT
  CASE WHEN l.kind = '' AND NOT l.by_key THEN (SELECT coalesce(sum(p.permits), 0) FROM hourbell_node_permit AS p WHERE p.limit_id = l.id)
    ELSE (SELECT coalesce(sum(n.used), 0) FROM hourbell_lane AS n WHERE n.limit_id = l.id)
      - (SELECT count(*) FROM hourbell_vacancy AS v CROSS JOIN json_each(v.lanes) AS p CROSS JOIN hourbell_lane AS n ON n.id = p.value
         WHERE n.limit_id = l.id) END AS in_use,
  CASE WHEN l.kind = '' AND NOT l.by_key THEN (SELECT count(*) FROM (
      SELECT 1 FROM hourbell_job AS j WHERE j.state = 0 AND j.queue = l.queue AND j.run_at <= :now
      UNION ALL
      SELECT 1 FROM hourbell_job AS j WHERE j.state = 0 AND j.queue >= l.queue || '@' AND j.queue < l.queue || 'A' AND j.run_at <= :now LIMIT +:most))
    ELSE (SELECT count(*) FROM (
      SELECT 1 FROM hourbell_lane AS n JOIN hourbell_job AS j ON j.lane = n.id WHERE n.limit_id = l.id LIMIT +:most)) END AS waiting,
  (SELECT count(*) FROM hourbell_lane AS n WHERE n.limit_id = l.id AND (n.used > 0
    OR EXISTS (SELECT 1 FROM hourbell_job AS j WHERE j.lane = n.id))) AS keys
FROM hourbell_job_limit AS l
WHERE l.id = :limit
