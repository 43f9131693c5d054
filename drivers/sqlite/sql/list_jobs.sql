-- Both tables are walked backwards in step; neither is sorted.
SELECT j.id, j.token, j.state, CASE WHEN :full THEN j.args END AS args, CASE WHEN :full THEN j.headers END AS headers,
       j.attempt, j.origin, j.run_at, j.created_at, j.started_at, NULL AS finished_at,
       coalesce((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), '') AS node, coalesce(j.schedule_id, 0) AS schedule_id,
       coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = j.schedule_id), '') AS schedule_name, j.slot,
       EXISTS (SELECT 1 FROM hourbell_cancel_request AS c WHERE c.job_id = j.id) AS cancel_asked, '' AS reason, j.losses, coalesce(j.snoozes, 0) AS snoozes,
       {j.spec}
FROM hourbell_job AS j
WHERE j.id < :before
  AND j.id IN (SELECT value FROM json_each(:ids))                                          -- if ids
  AND j.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)   -- if schedule
  AND j.state IN (SELECT value FROM json_each(:states))                                    -- if states
  AND (j.state IN (SELECT value FROM json_each(:states))                                   -- if narrowed
    OR j.state = 0 AND j.attempt = 0 AND :scheduled AND j.run_at > :now                    -- if narrowed
    OR j.state = 0 AND j.attempt > 0 AND :retrying)                                        -- if narrowed
  AND j.queue = :queue                                                                     -- if queue
  AND j.kind = :kind                                                                       -- if kind
UNION ALL
SELECT h.id, h.token, h.state, CASE WHEN :full THEN h.args END, CASE WHEN :full THEN h.headers END,
       h.attempt, h.origin, h.run_at, h.created_at, h.started_at, h.finished_at,
       h.node_name, coalesce(h.schedule_id, 0),
       coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = h.schedule_id), ''), h.slot,
       false, h.reason, h.losses, coalesce(h.snoozes, 0),
       {h.spec}
FROM hourbell_history AS h
WHERE h.id < :before
  AND h.id IN (SELECT value FROM json_each(:ids))                                          -- if ids
  AND h.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)   -- if schedule
  AND h.state IN (SELECT value FROM json_each(:states))                                    -- if states
  AND h.state IN (SELECT value FROM json_each(:states))                                    -- if narrowed
  AND h.queue = :queue                                                                     -- if queue
  AND h.kind = :kind                                                                       -- if kind
ORDER BY 1 DESC
LIMIT +:limit
