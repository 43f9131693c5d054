-- statement lockFinishedJobs, returns sqlrows.TargetColumns
-- Locks finished jobs, in the order of their numbers, and returns the marks of their schedules.
SELECT h.id, h.state, {micros(h.run_at)} AS run_at, {micros(h.slot)} AS slot, coalesce(h.schedule_id, 0) AS schedule_id, h.origin, h.attempt, h.max_attempts, h.kind,
       coalesce(h.unique_key, _utf8mb4'') AS unique_key, (SELECT {micros(s.mark)} FROM hourbell_schedule AS s WHERE s.id = h.schedule_id) AS mark
FROM hourbell_history AS h FORCE INDEX (PRIMARY) WHERE h.id IN (:ids)
ORDER BY h.id
FOR UPDATE
