-- One job that is ready, perhaps with a key.
INSERT INTO hourbell_job (run_at, created_at, slot, schedule_id, timeout, priority, state, max_attempts, on_loss, origin,
                          queue, kind, args, headers
                          , unique_key                       -- if unique
)
SELECT coalesce(:run_at, now + :delay), now, :slot, :schedule, :timeout, :priority, 0, :max_attempts, :on_loss, :origin,
       :queue, :kind, :args, :headers
       , :unique                                             -- if unique
FROM (SELECT coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000) AS now)
