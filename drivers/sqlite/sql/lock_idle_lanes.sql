-- statement LockIdleLanes, returns id
-- Lanes that hold no permits and no starts, in which no job waits, and that are not to be looked at.
SELECT id FROM hourbell_lane WHERE used <= 0 AND starts <= 0 AND NOT waiting AND look_at IS NULL ORDER BY id LIMIT +:limit
