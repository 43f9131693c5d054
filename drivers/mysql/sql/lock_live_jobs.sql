-- statement findLiveJobs, returns sqlrows.LiveColumns
-- statement lockFreeLiveJobs, given free, returns sqlrows.LiveColumns
-- statement LockLiveJobs, given waiting, returns LiveColumns
-- Locks the live jobs of schedules, without backfilled jobs, in the order of their numbers. Jobs are
-- locked by their numbers, because a lock on an entry of another index would stay where a locked job
-- is left out, and the transaction that has locked the job would wait for it.
SELECT j.schedule_id, j.id, {micros(j.slot)} AS slot, j.state = 2 AS running, j.state = 1 AS waiting, j.attempt, j.snoozes IS NOT NULL AS snoozed, j.origin,
  COALESCE(j.slot, j.run_at) <= {at(:now)} AS due, IF(j.run_at > {at(:now)}, {micros(j.run_at)}, NULL) AS starts_at, j.lane IS NOT NULL AS limited,
  j.queue, j.kind, j.group_name, j.job_key
FROM (
  SELECT l.id FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_schedule)
  STRAIGHT_JOIN hourbell_job AS l FORCE INDEX (PRIMARY) ON l.id = r.job_id
  WHERE r.schedule_id IN (:ids) AND l.origin NOT {backfill}
  ORDER BY l.id LIMIT 1000000000
  {share}
) AS o STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
FOR UPDATE              -- if waiting
FOR UPDATE SKIP LOCKED  -- if free
