-- shared statement findScheduleJobs, returns TargetColumns
-- The live jobs of a schedule.
SELECT id, max(state, 0) AS state, run_at, slot, schedule_id, origin, attempt, max_attempts, kind, coalesce(unique_key, '') AS unique_key, NULL AS mark FROM hourbell_job
WHERE schedule_id = (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = :schedule)
ORDER BY id
