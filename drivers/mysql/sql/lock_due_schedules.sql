-- statement findDueOnes, returns id revision mark next_at paused_at releases
-- statement lockFreeDueSchedules, given free, returns id revision mark next_at paused_at releases
-- statement LockDueSchedules, given waiting, returns id revision mark next_at paused_at releases
-- Locks schedules that are due by :until, in the order of their numbers.
SELECT s.id, s.revision, {micros(s.mark)} AS mark, {micros(s.next_at)} AS next_at,
       {micros(greatest(coalesce(s.paused_at, s.group_paused_at), coalesce(s.group_paused_at, s.paused_at)))} AS paused_at, s.releases
FROM hourbell_schedule AS s FORCE INDEX (PRIMARY)
WHERE s.id IN (:ids) AND s.deleted_at IS NULL AND s.next_at <= {at(:until)}
ORDER BY s.id
FOR UPDATE              -- if waiting
FOR UPDATE SKIP LOCKED  -- if free
