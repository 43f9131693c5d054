-- statement lockFreeFollowers, given free, returns id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until
-- statement LockFollowers, given waiting, returns id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until
-- Locks the schedules that follow these schedules, in the order of their numbers, and returns
-- them once for each of these.
SELECT d.id, {micros(d.mark)} AS mark, {micros(d.next_at)} AS next_at,
       p.id AS predecessor_id, p.name AS predecessor, {micros(p.paused_at)} AS paused_at, {micros(p.paused_until)} AS paused_until, {micros(p.group_paused_at)} AS group_paused_at, {micros(p.group_paused_until)} AS group_paused_until
FROM hourbell_schedule AS p FORCE INDEX (PRIMARY)
STRAIGHT_JOIN hourbell_chain AS c FORCE INDEX (PRIMARY) ON c.predecessor IN (p.name, CASE WHEN left(p.owner, 6) = _utf8mb4'every:' THEN substr(p.owner, 7) END)
STRAIGHT_JOIN hourbell_schedule AS d FORCE INDEX (PRIMARY) ON d.id = c.schedule_id
WHERE p.id IN (:ids) AND p.deleted_at IS NULL AND d.deleted_at IS NULL
ORDER BY d.id
FOR UPDATE         -- if waiting
FOR UPDATE NOWAIT  -- if free
