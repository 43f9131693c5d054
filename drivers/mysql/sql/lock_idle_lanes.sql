-- statement LockIdleLanes, returns id
-- Locks lanes that hold no permits and no starts, in which no job waits, and that are not to be looked at. Lanes that other
-- transactions have locked are left out.
SELECT id FROM hourbell_lane FORCE INDEX (PRIMARY) WHERE used <= 0 AND starts <= 0 AND waiting = 0 AND look_at IS NULL
ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED
