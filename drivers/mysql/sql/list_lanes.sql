-- statement listLanes, returns id key used starts tat not_before
-- The lanes of a limit with the most permits in use.
SELECT id, `key`, used, starts, {micros(tat)} AS tat, {micros(not_before)} AS not_before FROM hourbell_lane WHERE limit_id = :limit ORDER BY used DESC, id LIMIT :candidates
