-- One job.
INSERT INTO hourbell_job (run_at, created_at, slot, schedule_id, origin, state, args, headers, {spec})
SELECT coalesce(:run_at, now + :delay), now, :slot, :schedule, :origin, :state, :args, :headers, {:spec}
FROM (SELECT coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000) AS now)
