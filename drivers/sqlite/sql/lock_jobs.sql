-- statement LockJobs, returns TargetColumns
-- Jobs by number, live and finished, with the marks of their schedules.
SELECT j.id, max(j.state, 0) AS state, j.run_at, j.slot, coalesce(j.schedule_id, 0) AS schedule_id, j.origin, j.attempt, j.max_attempts, j.kind,
       coalesce(j.unique_key, '') AS unique_key, (SELECT s.mark FROM hourbell_schedule AS s WHERE s.id = j.schedule_id) AS mark
FROM json_each(:ids) AS o CROSS JOIN hourbell_job AS j ON j.id = o.value
UNION ALL
SELECT h.id, h.state, h.run_at, h.slot, coalesce(h.schedule_id, 0), h.origin, h.attempt, h.max_attempts, h.kind, coalesce(h.unique_key, ''),
       (SELECT s.mark FROM hourbell_schedule AS s WHERE s.id = h.schedule_id)
FROM json_each(:ids) AS o CROSS JOIN hourbell_history AS h ON h.id = o.value
