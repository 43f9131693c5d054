-- statement LockLanes, returns id limit_id key used starts waiting tat not_before look_at
-- Lanes by number.
SELECT l.id, l.limit_id, l.key, l.used, l.starts, l.waiting, l.tat, l.not_before, l.look_at FROM json_each(:ids) AS o CROSS JOIN hourbell_lane AS l ON l.id = o.value
