-- statement LockFollowers, returns id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until
-- The schedules that follow these schedules, once for each of these.
SELECT d.id, d.mark, d.next_at,
       p.id AS predecessor_id, p.name AS predecessor, p.paused_at, p.paused_until, p.group_paused_at, p.group_paused_until
FROM json_each(:ids) AS o
CROSS JOIN hourbell_schedule AS p ON p.id = o.value
CROSS JOIN hourbell_chain AS c ON c.predecessor IN (p.name, CASE WHEN substr(p.owner, 1, 6) = 'every:' THEN substr(p.owner, 7) END)
CROSS JOIN hourbell_schedule AS d ON d.id = c.schedule_id
WHERE p.deleted_at IS NULL AND d.deleted_at IS NULL
ORDER BY d.id
