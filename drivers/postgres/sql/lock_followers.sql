-- statement lockFollowers, takes schedules, returns id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until
-- Locks the schedules that follow these schedules, in the order of their numbers, and returns
-- them once for each of these.
SELECT d.id, d.mark, d.next_at, p.id AS predecessor_id, p.name AS predecessor, p.paused_at, p.paused_until, p.group_paused_at, p.group_paused_until
FROM {schema}.schedule AS p
    JOIN {schema}.chain AS c ON c.predecessor = ANY (ARRAY[p.name, CASE WHEN left(p.owner, 6) = 'every:' THEN substr(p.owner, 7) END])
    JOIN {schema}.schedule AS d ON d.id = c.schedule_id
WHERE p.id = ANY (:schedules::bigint[]) AND p.deleted_at IS NULL AND d.deleted_at IS NULL
ORDER BY d.id FOR NO KEY UPDATE OF d
