-- shared statement findScheduleJobs, returns TargetColumns
-- Locks the live jobs of a schedule, in the order of their numbers.
SELECT j.id, greatest(j.state, 0) AS state, {micros(j.run_at)} AS run_at, {micros(j.slot)} AS slot, j.schedule_id, j.origin, j.attempt, j.max_attempts, j.kind, coalesce(j.unique_key, _utf8mb4'') AS unique_key, NULL AS mark
FROM (
  SELECT r.job_id AS id FROM hourbell_job_rare AS r FORCE INDEX (hourbell_rare_schedule)
  WHERE r.schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)
  ORDER BY r.job_id LIMIT 1000000000
  {share}
) AS o STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
FOR UPDATE
