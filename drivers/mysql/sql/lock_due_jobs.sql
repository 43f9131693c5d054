-- statement lockLimitedDueJobs, given limited, returns sqlrows.ClaimedColumns rare
-- statement lockDueJobs, given unlimited, returns sqlrows.ClaimedColumns rare
-- Locks up to :limit due jobs of one priority that a claim may take, in their order, which is the order of the index.
-- Jobs that other transactions have locked are left out. Jobs are found without locks, in a window, and then locked by
-- their numbers, because a search of another index would lock entries of the jobs that it leaves out. The variant for a
-- queue that no limit of kinds or keys concerns finds no job if such a limit does concern it. The other variant
-- leaves out jobs that need permits and hold none. Before the instant :first no such job is due, however many of other kinds are.
SELECT j.id, j.token, j.args, j.headers, j.attempt, j.origin, {micros(j.run_at)} AS run_at, {micros(j.created_at)} AS created_at,
  COALESCE(j.schedule_id, 0) AS schedule_id, COALESCE((SELECT s.name FROM hourbell_schedule AS s WHERE s.id = j.schedule_id), _utf8mb4'') AS schedule_name,
  {micros(j.slot)} AS slot, j.losses, j.refunds, {j.spec}, j.rare
FROM (
  SELECT f.id FROM hourbell_job AS f FORCE INDEX (hourbell_job_ready)
  WHERE f.priority = :priority AND f.run_at >= {at(:first)} AND f.losses < 2 AND {claimable(f)}
    AND {permitted(f)} -- if limited
    AND NOT EXISTS (SELECT 1 FROM hourbell_job_limit AS t                                                             -- if unlimited
      WHERE (t.by_key <> 0 OR t.kind <> _utf8mb4'') AND (t.queue = _utf8mb4'' OR {in_queue(:queue, t.queue)}))                        -- if unlimited
  ORDER BY f.run_at, f.id LIMIT :window OFFSET :offset
) AS o STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.priority = :priority AND j.losses < 2 AND {claimable(j)}
    AND {permitted(j)} -- if limited
LIMIT :limit
FOR UPDATE SKIP LOCKED
