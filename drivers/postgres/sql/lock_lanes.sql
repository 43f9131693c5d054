-- statement lockLanes, takes ids, returns id limit_id key used starts waiting tat not_before look_at
-- Locks lanes, in the order of their numbers.
SELECT id, limit_id, key, used, starts, waiting, tat, not_before, look_at FROM {schema}.lane WHERE id = ANY (:ids::bigint[]) ORDER BY id + 0 FOR UPDATE
