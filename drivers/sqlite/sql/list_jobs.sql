-- statement CountJobs, given numbers count, returns count, a listing
-- statement ListJobs, given page newest, returns jobColumns, a listing
-- statement ListJobsOldestFirst, given page oldest, returns jobColumns, a listing
-- statement MatchJobs, given numbers, returns id, a listing
-- Jobs that match a filter: a page of them, how many there are, or which jobs out of a list
-- match. For a page both tables are walked in step, backwards or forwards; neither is
-- sorted. :live and :finished: whether live and finished jobs can match at all. The first page of a kind with few live jobs walks over the
-- numbers from its first live job to its last.
SELECT count(*) AS count FROM (                                                                                 -- if count
SELECT j.id                                                                                                     -- if numbers
SELECT j.id, j.token, max(j.state, 0) AS state, CASE WHEN :full THEN j.args END AS args,                                         -- if page
       CASE WHEN :full THEN j.headers END AS headers, j.attempt, j.origin, j.run_at, j.created_at,              -- if page
       j.started_at, NULL AS finished_at,                                                                       -- if page
       coalesce((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), '') AS node,                       -- if page
       coalesce(j.schedule_id, 0) AS schedule_id,                                                               -- if page
       coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = j.schedule_id), '') AS schedule_name,   -- if page
       j.slot, EXISTS (SELECT 1 FROM hourbell_cancel_request AS c WHERE c.job_id = j.id) AS cancel_asked,       -- if page
       '' AS reason, j.losses, coalesce(j.snoozes, 0) AS snoozes,                                               -- if page
       j.state <= 0 AND {waits(j.id, j.snoozes)} AS parked, NULL AS result,                                     -- if page
       {j.spec}                                                                                                 -- if page
FROM hourbell_job AS j
WHERE :live
  AND j.id < :before                                                                                            -- if page
  AND j.id < :before                                                                                            -- if before
  AND j.id > :after_id                                                                                          -- if after
  AND j.id IN (SELECT value FROM json_each(:ids))                                                               -- if ids
  AND j.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)                        -- if schedule
  AND {is_or_is_made_from(j.schedule_id, :hosts_of)}                                                            -- if hosts
  AND j.state IN (SELECT value FROM json_each(:states))                                                         -- if states
  AND (j.state IN (SELECT value FROM json_each(:states))                                                        -- if narrowed
    OR j.state <= 0 AND j.attempt = 0 AND :scheduled AND j.run_at > :now AND NOT {waits(j.id, j.snoozes)}       -- if narrowed
    OR j.state <= 0 AND j.attempt > 0 AND :retrying AND NOT {waits(j.id, j.snoozes)}                            -- if narrowed
    OR j.state <= 0 AND :parked AND {waits(j.id, j.snoozes)})                                                   -- if narrowed
  AND j.queue = :queue                                                                                          -- if queue
  AND j.kind = :kind                                                                                            -- if kind
  AND j.id >= (SELECT CASE WHEN count(*) < 1000 THEN min(k.id) ELSE 0 END FROM ({of_kind(:kind)}) AS k)         -- if first_of_kind
  AND j.id <= (SELECT CASE WHEN count(*) < 1000 THEN max(k.id) ELSE :before END FROM ({of_kind(:kind)}) AS k)   -- if first_of_kind
  AND j.group_name = :group_name                                                                                -- if group
  AND j.job_key = :job_key                                                                                      -- if key
  AND j.unique_key = :unique_key                                                                                -- if unique
  AND j.batch = :batch                                                                                          -- if batch
  AND NOT EXISTS (SELECT 1 FROM hourbell_batch AS b WHERE b.id = j.batch AND b.finally_id = j.id)                -- if not_last
  AND instr(j.args, :args_text) > 0                                                                             -- if args
  AND j.created_at >= :created_since                                                                            -- if created_since
  AND j.created_at < :created_until                                                                             -- if created_until
  AND {has_error(j.id, :error)}                                                                                 -- if error
  AND j.id IN ({with_error(:error, :after_id, :before)})                                                        -- if from_errors
UNION ALL
SELECT h.id                                                                                                     -- if numbers
SELECT h.id, h.token, h.state, CASE WHEN :full THEN h.args END, CASE WHEN :full THEN h.headers END,             -- if page
       h.attempt, h.origin, h.run_at, h.created_at, h.started_at, h.finished_at,                                -- if page
       h.node_name, coalesce(h.schedule_id, 0),                                                                 -- if page
       coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = h.schedule_id), ''), h.slot,            -- if page
       false, h.reason, h.losses, coalesce(h.snoozes, 0), false, CASE WHEN :full THEN h.result END,                    -- if page
       {h.spec}                                                                                                 -- if page
FROM hourbell_history AS h
  INDEXED BY hourbell_history_failed                                                                            -- if failures
WHERE :finished
  AND h.state >= 4                                                                                              -- if failures
  AND h.id < :before                                                                                            -- if page
  AND h.id < :before                                                                                            -- if before
  AND h.id > :after_id                                                                                          -- if after
  AND h.id IN (SELECT value FROM json_each(:ids))                                                               -- if ids
  AND h.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)                        -- if schedule
  AND {is_or_is_made_from(h.schedule_id, :hosts_of)}                                                            -- if hosts
  AND h.state IN (SELECT value FROM json_each(:states))                                                         -- if states
  AND h.state IN (SELECT value FROM json_each(:states))                                                         -- if narrowed
  AND h.queue = :queue                                                                                          -- if queue
  AND h.kind = :kind                                                                                            -- if kind
  AND h.group_name = :group_name                                                                                -- if group
  AND h.job_key = :job_key                                                                                      -- if key
  AND h.unique_key = :unique_key                                                                                -- if unique
  AND h.batch = :batch                                                                                          -- if batch
  AND NOT EXISTS (SELECT 1 FROM hourbell_batch AS b WHERE b.id = h.batch AND b.finally_id = h.id)                -- if not_last
  AND instr(h.args, :args_text) > 0                                                                             -- if args
  AND h.created_at >= :created_since                                                                            -- if created_since
  AND h.created_at < :created_until                                                                             -- if created_until
  AND h.finished_at >= :finished_since                                                                          -- if finished_since
  AND (h.keep_until IS NOT NULL) IN (0, 1) -- the index has it before finished_at                               -- if finished_since
  AND h.finished_at < :finished_until                                                                           -- if finished_until
  AND (h.keep_until IS NOT NULL) IN (0, 1)                                                                      -- if finished_until
  AND (instr(h.reason, :error) > 0 OR {has_error(h.id, :error)})                                                -- if error
  AND h.id IN ({with_error(:error, :after_id, :before)}                                                         -- if from_errors
    UNION ALL SELECT f.id FROM hourbell_history AS f INDEXED BY hourbell_history_failed                         -- if from_errors
    WHERE f.state >= 4 AND f.id > :after_id AND f.id < :before AND instr(f.reason, :error) > 0)                 -- if from_errors
)                                                                                                               -- if count
ORDER BY 1 DESC                                                                                                 -- if newest
ORDER BY 1                                                                                                      -- if oldest
LIMIT +:limit                                                                                                   -- if page
