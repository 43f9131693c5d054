-- statement findTriggeredMarks, returns id mark
-- statement LockTriggeredSchedules, given locking, returns id mark
-- Locks the schedules of triggered jobs, in the order of their numbers, so that they do not fire
-- concurrently, and returns their marks: up to them, slots may have fired early. A caller's
-- transaction does not lock them, because they could not fire until it ends.
SELECT s.id, {micros(s.mark)} AS mark FROM hourbell_schedule AS s FORCE INDEX (PRIMARY) WHERE s.id IN (:ids) ORDER BY s.id
FOR UPDATE -- if locking
