-- statement CountJobs, given count, returns count, a listing
-- statement ListJobs, given page newest, returns jobColumns, a listing
-- statement ListJobsOldestFirst, given page oldest, returns jobColumns, a listing
-- statement MatchJobs, given numbers, returns id, a listing
-- Jobs that match a filter: a page of them, how many there are, or which jobs out of a list
-- match. For a page each table is walked in the order of the numbers until the page is full.
-- :live and :finished: whether live and finished jobs can match at all. The first page of a kind without live jobs, which the index
-- of ready jobs has, walks over no live jobs.
SELECT (SELECT count(*)                                                                                         -- if count
(SELECT j.id AS id                                                                                              -- if numbers
(SELECT j.id AS id, j.token, greatest(j.state, 0) AS state, CASE WHEN :full THEN j.args END AS args,            -- if page
        CASE WHEN :full THEN j.headers END AS headers, j.attempt, j.origin, {micros(j.run_at)} AS run_at,       -- if page
        {micros(j.created_at)} AS created_at, {micros({started(j.started_at)})} AS started_at, NULL AS finished_at,        -- if page
        coalesce((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), _utf8mb4'') AS node,                      -- if page
        coalesce(j.schedule_id, 0) AS schedule_id,                                                              -- if page
        coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = j.schedule_id), _utf8mb4'') AS schedule_name,  -- if page
        {micros(j.slot)} AS slot, EXISTS (SELECT 1 FROM hourbell_cancel_request AS c WHERE c.job_id = j.id) AS cancel_asked, -- if page
        _utf8mb4'' AS reason, j.losses, coalesce(j.snoozes, 0) AS snoozes,                                              -- if page
        j.state <= 0 AND {waits(j.id, j.snoozes)} AS parked, NULL AS result,                                    -- if page
        {j.spec}                                                                                                -- if page
FROM hourbell_job AS j
WHERE :live
  AND j.id < :before                                                                                            -- if page
  AND j.id < :before                                                                                            -- if before
  AND j.id > :after_id                                                                                          -- if after
  AND j.id IN (:ids)                                                                                            -- if ids
  AND j.id IN (SELECT r.job_id FROM hourbell_job_rare AS r WHERE r.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule) {share})-- if schedule
  AND j.schedule_id IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :hosts_of                      -- if hosts
    UNION ALL SELECT s.id FROM hourbell_schedule AS s WHERE s.owner = concat(_utf8mb4'every:', :hosts_of)               -- if hosts
      AND s.name >= concat(:hosts_of, _utf8mb4'@') AND s.name < concat(:hosts_of, _utf8mb4'A'))                                 -- if hosts
  AND j.state IN (:states)                                                                                      -- if states
  AND (j.state IN (:states)                                                                                     -- if narrowed
    OR j.state <= 0 AND j.attempt = 0 AND :scheduled AND j.run_at > {at(:now)} AND NOT {waits(j.id, j.snoozes)} -- if narrowed
    OR j.state <= 0 AND j.attempt > 0 AND :retrying AND NOT {waits(j.id, j.snoozes)}                            -- if narrowed
    OR j.state <= 0 AND :parked AND {waits(j.id, j.snoozes)})                                                   -- if narrowed
  AND j.queue = :queue                                                                                          -- if queue
  AND j.kind = :kind                                                                                            -- if kind
  AND EXISTS (SELECT 1 FROM hourbell_job AS k FORCE INDEX (hourbell_job_ready) WHERE k.kind = :kind)            -- if first_of_kind
  AND j.id IN (SELECT r.job_id FROM hourbell_job_rare AS r WHERE r.group_name = :group_name {share})            -- if group
  AND j.id IN (SELECT r.job_id FROM hourbell_job_rare AS r WHERE r.job_key = :job_key {share})                  -- if key
  AND j.id IN (SELECT r.job_id FROM hourbell_job_rare AS r WHERE r.unique_key = :unique_key {share})            -- if unique
  AND j.id IN (SELECT r.job_id FROM hourbell_job_rare AS r WHERE r.unique_kind = :kind AND r.unique_key = :unique_key {share})-- if keyed
  AND j.id IN (SELECT r.job_id FROM hourbell_job_rare AS r WHERE r.batch = :batch {share})                      -- if batch
  AND NOT EXISTS (SELECT 1 FROM hourbell_job_rare AS r JOIN hourbell_batch AS b ON b.id = r.batch WHERE r.job_id = j.id AND b.finally_id = j.id) -- if not_last
  AND locate(:args_text, j.args) > 0                                                                            -- if args
  AND j.created_at >= {at(:created_since)}                                                                      -- if created_since
  AND j.created_at < {at(:created_until)}                                                                       -- if created_until
  AND {has_error(j.id, :error)}                                                                                 -- if error
  AND j.id IN (SELECT e.id FROM ({with_error(:error, :after_id, :before)}) AS e)                                -- if from_errors
ORDER BY j.id DESC LIMIT :limit                                                                                 -- if newest
ORDER BY j.id LIMIT :limit                                                                                      -- if oldest
{share}                                                                                                         -- if numbers
)
+ (SELECT count(*)                                                                                              -- if count
UNION ALL                                                                                                       -- if numbers
UNION ALL                                                                                                       -- if page
(SELECT h.id                                                                                                    -- if numbers
(SELECT h.id, h.token, h.state, CASE WHEN :full THEN h.args END, CASE WHEN :full THEN h.headers END,            -- if page
        h.attempt, h.origin, {micros(h.run_at)}, {micros(h.created_at)}, {micros(h.started_at)}, {micros(h.finished_at)}, -- if page
        h.node_name, coalesce(h.schedule_id, 0),                                                                -- if page
        coalesce((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = h.schedule_id), _utf8mb4''), {micros(h.slot)}, -- if page
        false, h.reason, h.losses, coalesce(h.snoozes, 0), false, CASE WHEN :full THEN h.result END,                   -- if page
        {h.spec}                                                                                                -- if page
FROM hourbell_history AS h
WHERE :finished
  AND h.id < :before                                                                                            -- if page
  AND h.id < :before                                                                                            -- if before
  AND h.id > :after_id                                                                                          -- if after
  AND h.id IN (:ids)                                                                                            -- if ids
  AND h.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)                        -- if schedule
  AND h.schedule_id IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :hosts_of                      -- if hosts
    UNION ALL SELECT s.id FROM hourbell_schedule AS s WHERE s.owner = concat(_utf8mb4'every:', :hosts_of)               -- if hosts
      AND s.name >= concat(:hosts_of, _utf8mb4'@') AND s.name < concat(:hosts_of, _utf8mb4'A'))                                 -- if hosts
  AND h.state IN (:states)                                                                                      -- if states
  AND h.state IN (:states)                                                                                      -- if narrowed
  AND h.queue = :queue                                                                                          -- if queue
  AND h.kind = :kind                                                                                            -- if kind
  AND h.group_name = :group_name                                                                                -- if group
  AND h.job_key = :job_key                                                                                      -- if key
  AND h.unique_key = :unique_key                                                                                -- if unique
  AND h.batch = :batch                                                                                          -- if batch
  AND NOT EXISTS (SELECT 1 FROM hourbell_batch AS b WHERE b.id = h.batch AND b.finally_id = h.id)                -- if not_last
  AND locate(:args_text, h.args) > 0                                                                            -- if args
  AND h.created_at >= {at(:created_since)}                                                                      -- if created_since
  AND h.created_at < {at(:created_until)}                                                                       -- if created_until
  AND h.finished_at >= {at(:finished_since)}                                                                    -- if finished_since
  AND h.finished_at < {at(:finished_until)}                                                                     -- if finished_until
  AND (locate(:error, h.reason) > 0 OR {has_error(h.id, :error)})                                               -- if error
  AND h.id IN (SELECT e.id FROM ({with_error(:error, :after_id, :before)}                                       -- if from_errors
    UNION ALL SELECT f.id FROM hourbell_history AS f FORCE INDEX (hourbell_history_failed)                      -- if from_errors
    WHERE f.failed = 1 AND f.id > :after_id AND f.id < :before AND locate(:error, f.reason) > 0) AS e)          -- if from_errors
ORDER BY h.id DESC LIMIT :limit                                                                                 -- if newest
ORDER BY h.id LIMIT :limit                                                                                      -- if oldest
{share}                                                                                                         -- if numbers
)
AS count                                                                                                        -- if count
ORDER BY id DESC LIMIT :limit                                                                                   -- if newest
ORDER BY id LIMIT :limit                                                                                        -- if oldest
