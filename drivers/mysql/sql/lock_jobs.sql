-- statement LockJobs, returns TargetColumns
-- Locks live jobs, in the order of their numbers, and returns the marks of their schedules.
SELECT j.id, greatest(j.state, 0) AS state, {micros(j.run_at)} AS run_at, {micros(j.slot)} AS slot, coalesce(j.schedule_id, 0) AS schedule_id, j.origin, j.attempt, j.max_attempts, j.kind,
       coalesce(j.unique_key, _utf8mb4'') AS unique_key, (SELECT {micros(s.mark)} FROM hourbell_schedule AS s WHERE s.id = j.schedule_id) AS mark
FROM hourbell_job AS j FORCE INDEX (PRIMARY) WHERE j.id IN (:ids)
ORDER BY j.id
FOR UPDATE
