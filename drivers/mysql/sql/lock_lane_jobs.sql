-- statement readLaneJobs, given waiting, returns sqlrows.LaneJobColumns
-- statement lockLaneJobs, given waiting lock, returns sqlrows.LaneJobColumns
-- statement lockNewLaneJobs, given fresh lock, returns sqlrows.LaneJobColumns
-- statement lockRunningLaneJobs, given running lock, returns sqlrows.LaneJobColumns
-- Jobs that need permits, by number; with locks, without jobs that others have locked.
SELECT j.id, coalesce(j.lane, 0) AS lane, j.state = -3 AS first,                                                        -- if waiting
SELECT j.id, 0 AS lane, j.token > 0 AS first,                                                                           -- if fresh
SELECT j.id, 0 AS lane, 0 AS first,                                                                                     -- if running
  {micros(j.run_at)} AS run_at, j.queue, j.kind, coalesce(j.job_key, _utf8mb4'') AS job_key, j.priority
FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS i) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.lane IS NOT NULL                   -- if waiting
WHERE j.state = 0 AND j.permits IS NULL    -- if fresh
WHERE j.state = 2                          -- if running
FOR UPDATE SKIP LOCKED                     -- if lock
